// Package png reads a folder of PNG files as a table of images and labels: folders that sink/png
// writes, and those of others, as torchvision's ImageFolder, Keras and Hugging Face load them.
//
// # What is recognized
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
//  2. The column label of metadata.csv, for the files of each folder.
//  3. The indices of the folder names among the classes that the caller knows.
//  4. The indices of the folder names, sorted, as in ImageFolder; those of all splits of a data set
//     are numbered together.
//
// Folder names that are not numbers are the class names, unless metadata.csv has a column class.
//
// [Table.Notes] mentions which rules were used. Package picture describes what becomes of the
// samples. All files must have the format of the first one, in any encoding that holds the same
// values: grey of 1 to 8 bits, and palettes of greys, as optipng and pngquant write them. If the
// first files are such palettes, the next one of another kind decides whether the images are grey.
// Images of other formats are an error, as rows would be missing. Names that begin with a dot, and
// other files, are ignored.
//
// # Safety
//
// Nothing outside the folder is opened: links that lead out of it are errors, and so is anything
// but a regular file. The names of all files are held in memory, with 8 more bytes each. Decode
// opens and decodes the files, on many goroutines.
package png
