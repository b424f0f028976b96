// Package png reads a folder of images as a table of images and labels: a folder of PNG files that
// sink/png wrote, or another one that torchvision's ImageFolder, Keras or Hugging Face would load.
// Package picture describes the kinds of images and how samples are converted.
//
// # What is recognised
//
//	5/00000.png, 0/00001.png, …   class folders: the folder of an image gives its label
//	00000.png, 00001.png, …       no class folders: images alone, or with the labels of metadata.csv
//
// Rows are in the order of the numbers in the file names; names that are no numbers follow, folder
// by folder. This restores the order of a table that sink/png wrote. If two files have the same
// number, in whatever folders, rows are in the order of the folders, and by name within a folder:
// img_2 is before img_10.
//
// The labels are found by the first of these rules that applies:
//
//  1. The column label of metadata.csv, or of metadata.jsonl with one object in each line. If they
//     are names, they are positions in the class names that the caller knows, else an error.
//  2. The hidden file [schema.ClassesFile] that sink/png writes, unless the caller knows names.
//  3. The names of the folders, if all of them are numbers.
//  4. The positions of the folder names among the classes that the caller knows.
//  5. The positions of the folder names, sorted, as in ImageFolder; those of all splits of a data
//     set are numbered together. A warning says which label each folder has.
//
// Folder names that are not numbers are the class names, unless metadata.csv has a column class.
// Its other columns are columns of the table, if they hold numbers.
//
// All files must have the format of the first one, but files of 8-bit grey may be encoded in any
// way that holds the same values: as grey of 1 to 8 bits, or with a palette of greys, as optipng
// and pngquant do. If the first files have palettes of greys, the first file without one decides
// whether the images are grey or RGB. Images that are not read are an error, because their rows
// would be missing. Names that begin with a dot, and other files, are ignored.
//
// # Safety
//
// Nothing outside the folder is opened: links that lead out of it are errors, and so are images
// that are not regular files. The names of all files are held in memory, with 8 more bytes for
// each, and their labels. Decode opens and decodes the files, on many goroutines.
package png
