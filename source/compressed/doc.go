// Package compressed reads gzip, zstd, xz, bzip2 or plain data. The format is recognised by the first bytes and never by
// a name, as downloads are often renamed or silently unpacked on the way.
//
// A [Reader] yields the decompressed bytes. Its invariant: io.EOF is returned only after every trailer was read and every
// checksum that the format carries was found right. Whoever stops early has checked nothing.
//
// # What is accepted
//
//	gzip   RFC 1952; several members joined; zero bytes after the last member, as gzip(1) does (tapes and block devices)
//	zstd   RFC 8878; several frames and skippable frames; windows up to 128 MiB (zstd --long=27); no dictionaries
//	xz     the .xz format 1.2; several streams, stream padding; the LZMA2 filter alone; dictionaries up to 64 MiB (xz -9)
//	bzip2  several streams joined
//	plain  everything else, the empty input and inputs shorter than their format's magic number included
//
// Anything else after the last member is corrupt, even where the program of that name would only warn.
//
// # Seekable files
//
// A zstd file may end with a seek table, of zstd's seekable format 0.1.0: [FindSeekTable] finds it, and a [SeekReader] begins with any frame that it lists.
// A table is held against the file's size before it is used, and each entry against its frame when that is read: sizes, checksum, and that the frame ends
// where the next is said to begin. So data that was read whole, the table after it included, is what a Reader finds too. A table that contradicts itself or
// the frames is corrupt data; a Reader takes no notice of tables, as of any skippable frame.
//
// The table is trusted on the frames that are passed over. If it takes some bytes of data from one of them and adds as many to another, other data than
// was asked for is found between the two, and only reading from the start can tell.
//
// # Memory
//
// Decompressed data is handed over in up to three buffers of 256 KiB, so a bomb expands no further than its reader reads. While
// gzip data is waited for, other cores decode parts of it in advance, in at most 32 MiB more, usually 5.
// A header may ask for a window (zstd) or a dictionary (xz): the limits above are what one of a few bytes can make the
// process reserve. Such memory is not touched before data fills it, and files of some 30 bytes raised the resident size by
// less than 1 MiB. A seek table is kept as it is, if it has at most 16 MiB. The library has no way to use a dictionary again,
// so an xz file of many blocks leaves old ones to the garbage collector: 500 blocks in 10 KB, each asking for 64 MiB, peaked
// at 334 MB. Blocks that state their size, as those of xz -T do, get no more than that.
//
// # Goroutines
//
// Each compressed input has one goroutine, which ends at the end of the data, at an error, or by Close, and with it the helpers
// that gzip has, up to three. Plain data has none: a Read of it is a Read of the input, straight into the caller's buffer.
package compressed
