// Package png reads a folder of PNG files as a table of images and labels: a folder that sink/png
// wrote, or another one that torchvision's ImageFolder, Keras or Hugging Face would load.
//
// # What is recognised
//
//	5/00000.png, 0/00001.png, …   class folders: the folder of an image gives its label
//	00000.png, 00001.png, …       no class folders: images alone, or with the labels of metadata.csv
//
// Rows are in the order of the numbers in the file names, if all names are numbers and no two
// files, in whatever folders, have the same number. This restores the order of a table that
// sink/png wrote. Otherwise, rows are in the order of ImageFolder: folder by folder, and by name
// within a folder.
//
// The labels are found by the first of these rules that applies:
//
//  1. The names of the folders, if all of them are numbers.
//  2. The column label of metadata.csv, which must be the same for all files of a folder.
//  3. The indices of the folder names among the classes that the caller knows.
//  4. The indices of the folder names, sorted, as in ImageFolder; those of all splits of a data set
//     are numbered together.
//
// Folder names that are not numbers are the class names, unless metadata.csv has a column class.
//
// [Table.Notes] mentions which rules were used. Package picture describes how samples are
// converted. All files must have the format of the first one, but files of 8-bit grey may be
// encoded in any way that holds the same values: as grey of 1 to 8 bits, or with a palette of
// greys, as optipng and pngquant do. If the first files have palettes of greys, the first file
// without one decides whether the images are grey or RGB. Images of other formats are an error,
// because their rows would be missing. Names that begin with a dot, and other files, are ignored.
//
// # Safety
//
// Nothing outside the folder is opened: links that lead out of it are errors, and so are images
// that are not regular files. The names of all files are held in memory, with 8 more bytes for
// each. Decode opens and decodes the files, on many goroutines.
package png
