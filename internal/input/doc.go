// Package input finds and opens the inputs of a run: IDX files, whose splits package dataset finds,
// or tables in other formats, which package sources finds. [Find] returns a [Set], the splits that
// the arguments hold; [Set.Open] opens the files of one as a single table, with the types, shapes
// and labels that the flags give.
package input
