// Package png reads a folder of PNG files as a table of images and labels: those that sink/png writes, and those of others, as torchvision's
// ImageFolder, Keras and Hugging Face load them.
//
// # What is recognised
//
//	5/00000.png, 0/00001.png, …   class folders: the label of an image is what its folder stands for
//	00000.png, 00001.png, …       no class folders: images alone, or with the labels of metadata.csv
//
// Rows are in the order of the numbers in the files' names, if all are numbers and none is there twice in all folders: so the order of the table that
// sink/png wrote is restored. Otherwise they are in that of ImageFolder: folder by folder, and by name within a folder.
//
// Labels are the folders' names where all of them are numbers; else those that the column label of metadata.csv gives to the files of a folder; else
// the places of the folders' names among the classes that the caller knows; else
// folders are counted from 0, sorted by name, as ImageFolder does, those of all splits of a data set together. Names of folders that are no
// numbers are the names of the classes, unless metadata.csv has a column class.
//
// Which of these rules were used is told by [Table.Notes]. Package picture says what becomes of the samples. All files must be of the format of
// the first; images of other formats beside them are an error, as rows would be missing. What begins with a dot, and other files, are not looked at.
//
// # Safety
//
// Nothing outside of the folder is opened: links inside that lead out are errors, and so is what is no regular file. The names of all files are held
// in memory, with 8 bytes more for each. Files are opened and decoded by Decode, on many goroutines.
package png
