// Package dataset finds IDX files, pairs them to tables, names the splits, and knows the published data sets.
//
// [Find] takes what a user gave (a folder, files, standard input) and returns one [Split] for every table that can be made of it: which
// file is which column, what the split is called, and which data set of [Known] it is. [ParseName] is the rule for file names, [ReadClasses]
// reads the names of labels from a file.
//
// The package opens no data file itself. Where names are not enough it asks a [Prober], which the caller supplies: for headers, for the
// sha256 of labels, and whether a file is compressed. Files that can be read only once (standard input, pipes) are never asked about.
//
// # Names
//
// A published name is a prefix, a split, a role and a format, in any case, and perhaps the ending of a compression:
//
//	emnist-letters-train-images-idx3-ubyte.gz
//	└── prefix ──┘ split  role  └ format ┘
//
// The format begins after a dash or a dot, or is just ".idx". The role is images, patterns or a leading X_, else labels or a leading
// y_, else none: plain data. The split is train or test, which is also published as t10k. Files with the same prefix and split are one table,
// and names that differ only in the compression are one file.
//
// # The invariant
//
// Nothing is guessed. Two candidates for one column, several data sets in one folder, counts that differ, or images and labels
// swapped are errors that name the files. What was decided for the user stands in [Split.Notes].
package dataset
