// Package rows chooses rows of tables: by their index, by the values of columns, and at random.
//
// [Parse] checks the flags, which have the form that docs/cli.md explains. They apply in this
// order: --rows, --where, --holdout, --shuffle, --take, --part. [Choice.Select] reads the labels
// and other numbers that --where and --stratify need, and decides by row; [Choice.Cut] applies the
// rest to the table that is written.
//
// The same seed and the same rows give the same choice on every machine and in every version.
package rows
