// Package images says how a table of images becomes PNG files: which of its columns are the images and the labels ([Find]), what pixels their
// records are ([New]), and the bytes of each file ([Encoder]). The sinks that write PNG files share it, and the
// layouts of images, which have [Rules] of their own.
//
//	uint8  H×W, H×W×1     gray, 8 bits
//	int16  H×W, H×W×1     gray, 16 bits; values as they are, so no negative ones
//	uint8  H×W×3, H×W×4   RGB, RGBA
//	uint8  3×H×W, 4×H×W   RGB, RGBA, if channels is "first"; 1×H×W is gray
//
// The images are the only column whose records have two dimensions or more. Which column is the label, if any,
// [schema.Schema.Label] tells.
//
// Whatever makes no PNG files is refused with a fault that says what would do: Usage for a column, Unsupported for a
// value. The invariant: the file of a row depends on that row, the column and the order of the channels alone.
package images
