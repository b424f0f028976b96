// Package idx writes one column of a table as one array: an IDX file, which package source/idx
// describes, or a .npy file, the format of numpy.save. Both are a header with the type and the
// dimensions, the number of rows first, and then the elements in C order.
//
// [New] and [NewNPY] return a [Sink], which implements sink.Sink. The elements are big-endian in
// IDX and little-endian in .npy; where batches have that form, they are not copied. The header has
// the number of rows, which must be known before the first row; Close checks it.
//
// Package source/npy describes .npy files; these have version 1.0. The header takes 128 bytes, or a
// larger multiple of 64 if the shape is long, so that the elements are aligned and can be mapped
// into memory: numpy.load(path, mmap_mode="r"). The file is byte for byte that of numpy.save.
package idx
