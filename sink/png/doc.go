// Package png writes a table of images as a folder of PNG files, one class folder for each label: what ImageFolder of torchvision, Keras and
// Hugging Face load.
//
// A [Sink] is made by [New] and obeys the contract of package sink. It fills a [publish.Folder], which its owner publishes or discards:
//
//	0/00001.png     the image of row 1, whose label is 0
//	0/00021.png
//	5/00000.png
//
// A file is named after its row in the source, also if only a range of rows is converted, padded with zeros to the digits of the source's last
// row: sorted by name, files are in the order of the rows. Without a label column the files lie in the folder itself.
//
// Package images says which columns are the images and the labels, and what makes a PNG file. Other columns are left out, and [Sink.Notes] says so;
// metadata.csv takes scalars.
//
// # Class folders
//
// Folders are named after the labels, padded with zeros to equal width: sorted by name, they are in the order of the labels, and readers that
// number sorted folders give back the label if all labels from 0 on occur. A folder is made when its label first occurs, as
// torchvision refuses empty ones. The width is that of the largest label that can occur: of the last class if the classes are known, else of
// Options.MaxLabel, else of the largest value of the column's data type. It never depends on the rows that are converted.
//
// With Options.ClassFolders "names", folders are named after the classes, mapped to names that every system and every reader takes:
//
//   - ASCII letters, digits, "_" and "-" stay; a run of anything else, such as spaces, dots and slashes, becomes one "_".
//   - Leading and trailing "_" and "-" go: Spark ignores folders that begin with "_", and a command takes a leading "-" for a flag.
//   - What is longer than 80 bytes is cut.
//   - "-" and the label are appended if another class has the same name without regard to case (both get theirs: "A-10" and "a-36"), or if
//     it is a device on Windows, such as "aux". If nothing is left of a name, it becomes "class-" and the label.
//
// So "T-shirt/top" becomes "T-shirt_top". Sorted by such names the folders are usually not in the order of the labels; then there is a note.
//
// # metadata.csv
//
// With Options.MetadataCSV the folder holds a table too, which Hugging Face's imagefolder takes the columns of its data set from:
//
//	file_name,label,class,writer
//	5/00000.png,5,"sandal, high",2154
//	0/00001.png,0,shirt,2331
//
// A line for each image, in the order of the rows, ends with LF; file_name is relative. The columns are the label, class with the names of the classes
// if they are known, and the other scalars in their order, under their names. So the label is that of the data set, also where folders are
// numbered from 0 or named after classes. Floats are the shortest that read back, with a point or an exponent; NaN, inf and -inf are what is not
// finite. Fields are in quotes only where RFC 4180 demands it, or where a space begins them; class names are never changed. A column that is called as
// one that is there already, file_name, class, or image, as which readers show the images, is an error.
//
// The invariant: what is written for a row depends on that row, the schema and the options alone. Files are independent of each other, so Encode
// writes them, on as many goroutines as call it, and the steps have nothing left to do but to append the lines of metadata.csv.
package png
