// Package dataset finds IDX files, makes tables of them, and knows the published data sets.
//
// [Find] takes what a user gave (a folder, files, standard input) and returns one [Split] for every
// table in it: which file is which column, the name of the split, and which data set of [Known] it
// is. It asks a [Prober] for headers and for the SHA-256 of labels and images, but never for those
// of standard input. [ParseName] is the rule for file names. [ReadClasses] reads class names.
//
// # Names
//
// A published name has a prefix, a split, a role and a format, perhaps in upper case or with .gz:
//
//	emnist-letters-train-images-idx3-ubyte.gz
//	└── prefix ──┘ split  role  └ format ┘
//
// The format follows a dash or a dot, or is just ".idx". The role is image (images, patterns or a
// leading X_), label (labels or a leading y_), or else data. The split is that of a [SplitWord].
// Files with one prefix and split are one table. Data whose prefix begins like that of images or
// labels of its split, and has as many records, is a further column; and so is a file whose name
// differs from theirs after the last dash: train-weather-idx2-float, train-fine_label (also alone).
//
// # The invariant
//
// Nothing is guessed. Files of one column that differ, several data sets in a folder, and swapped
// images and labels are errors that name the files. [Split.Notes] has decisions made for the user.
package dataset
