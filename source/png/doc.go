// Package png reads a folder of images as a table of images and labels: a folder that sink/png
// wrote, or another one that torchvision's ImageFolder, Keras or Hugging Face would load. Package
// picture describes the kinds of images and how samples are converted.
//
//	5/00000.png, 0/00001.png, …   class folders: the folder of an image gives its label
//	00000.png, 00001.png, …       no class folders: images alone, or with the labels of metadata.csv
//
// Names that are numbers come first, in the order of the numbers across folders. Then come others,
// folder by folder, img_2 before img_10. Names with a dot first and other files are ignored, but
// tables in class folders, which may have labels, and images with other names are errors.
//
// The labels are found by the first of these rules that applies:
//
//  1. The column label of metadata.csv, or the first if it has the numbers of the class folders. If
//     it has names, they are positions in the class names that the caller knows, else an error. The
//     names of numbers are in the column class. Others are columns of the table, of numbers.
//  2. The hidden file [schema.ClassesFile] that sink/png writes, unless the caller gives names.
//  3. The names of the folders, if all of them are numbers. It is an error if another split has its
//     labels in a file and the caller knows no classes, as it is for rule 5.
//  4. The positions of the folder names among the classes that the caller knows.
//  5. The positions of the folder names, sorted, over all splits, which a warning lists. Errors: no
//     UTF-8, one folder or images, an empty one, others for a split alone, other numbers or lists.
//
// Links that lead out of the folder are errors, and so are images that are no regular files, masks
// beside images, and files or names, as of cat.0.png, that may have the labels of images with none.
package png
