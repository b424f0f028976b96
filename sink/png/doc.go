// Package png writes a table of images as a folder of PNG files, with one class folder per label.
// Such folders are read by torchvision's ImageFolder, by Keras and by Hugging Face's imagefolder.
//
// [New] returns a [Sink], which fills a [publish.Folder] that its owner publishes or discards:
//
//	0/00001.png     the image of row 1, whose label is 0
//	0/00021.png
//	5/00000.png
//
// A file is named after its row in the source, even if only a range of rows is converted. The
// number is padded with zeros to the digits of the source's last row, so files sorted by name are
// in row order. Without a label column, the files are in the folder itself.
//
// Package images chooses the image and label columns and makes the PNG files. Other columns are an
// error; metadata.csv can include those that are scalars.
//
// # Class folders
//
// Folders are named after the labels, padded with zeros to equal width. Sorted by name they are in
// the order of the labels, and readers that number sorted folders restore the labels if all labels
// from 0 on occur. A folder is created when its label first occurs, because torchvision refuses
// empty folders. The width is that of the largest possible label: the last class if the classes are
// known, else Options.MaxLabel, else the largest value of the column's data type. It never depends
// on the range of rows that is converted.
//
// In the layout "names", folders are named after the classes, which
// [schema.FolderNames] changes so that every system and reader accepts them: "T-shirt/top" becomes
// "T-shirt_top". Spark ignores folders that begin with "_", commands take a leading "-" for a flag.
//
// Sorted by such names, folders are usually not in the order of the labels; [Sink.Notes] reports
// that. The hidden file [schema.ClassesFile] has the folders and the classes in this order, so that
// package source/png finds the labels again.
//
// # metadata.csv
//
// In the layout "huggingface" the folder also has a table from which Hugging Face's imagefolder
// takes the columns of its data set:
//
//	file_name,label,class,writer
//	5/00000.png,5,"sandal, high",2154
//	0/00001.png,0,shirt,2331
//
// There is a line for each image, in row order, ending with LF; file_name is relative. The columns
// are the label, class with the class names if they are known, and the other scalars in their
// order. So readers find the label of the data set even if they number the folders. Floats are
// formatted by [schema.AppendFloat], infinities as inf; fields are quoted as in package csv, and
// class names are never changed. It is an error if a column is named file_name, image (under which
// readers show the images) or, if class names are known, class.
//
// The invariant: what is written for a row depends on that row, the schema and the options alone.
// Files are independent of each other, so Encode writes them, on many goroutines; the steps only
// append the lines of metadata.csv.
package png
