// Package compressed reads gzip, zstd, xz, bzip2 and plain data. It detects the format from the
// first bytes and never from a name, as downloads are often renamed or silently decompressed on the
// way.
//
// A [Reader] returns the decompressed bytes. Its invariant: it returns io.EOF only after every
// trailer has been read and every checksum of the format has been verified. A caller that stops
// early has verified nothing.
//
// # What is accepted
//
//	gzip   RFC 1952; several members; zero bytes after the last member, as in gzip(1) (tapes and
//	       block devices)
//	zstd   RFC 8878; several frames and skippable frames; windows up to 128 MiB (zstd --long=27); no
//	       dictionaries
//	xz     the .xz format 1.2; several streams, stream padding; the LZMA2 filter alone; dictionaries
//	       up to 64 MiB (xz -9)
//	bzip2  several streams
//	plain  everything else, including empty input and input shorter than a magic number
//
// Anything else after the last member is corrupt, even where gzip(1), for example, only warns.
//
// # Seekable files
//
// A zstd file may end with a seek table, in zstd's seekable format 0.1.0: [FindSeekTable] finds it,
// and a [SeekReader] can start at any frame in it. The table is checked against the size of the
// file before it is used, and each entry against its frame when that is read: the sizes, the
// checksum, and that the frame ends where the next one should begin. So if all data and then the
// table have been read, a Reader would have returned the same data. A table that contradicts itself
// or the frames is corrupt data; a Reader ignores tables, like any skippable frame.
//
// Skipped frames are not compared with the table. If the table understates the size of one of them
// and overstates another's by the same amount, a read between them returns data from a wrong
// offset; only reading from the start can detect that.
//
// # Memory
//
// Decompressed data is passed on in up to three buffers of 256 KiB, so a bomb expands only as far
// as it is read. While a caller waits for gzip data, other cores decode parts of it in advance,
// which takes at most 32 MiB more memory, usually 5 MiB. A header may ask for a window (zstd) or a
// dictionary (xz): even a file of a few bytes can reserve as much as the limits above. Such memory
// is not touched before data fills it; files of about 30 bytes raised the resident size by less
// than 1 MiB. A seek table of at most 16 MiB is held in memory. The xz library cannot reuse a
// dictionary, so a file of many blocks leaves old ones to the garbage collector: 500 blocks in 10
// KB, each with 64 MiB, peaked at 334 MB. For a block whose header has its size, as with xz -T, the
// dictionary is no larger than that.
//
// # Goroutines
//
// Each compressed input has one goroutine, and gzip up to three more. They end at the end of the
// data, after an error, or when Close is called. Plain data has none: a Read of it is a Read of the
// input, straight into the caller's buffer.
package compressed
