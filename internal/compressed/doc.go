// Package compressed reads gzip, zstd, xz, bzip2 and plain data, and writes all but xz and bzip2.
//
// # Reading
//
// A [Reader] detects the format from the first bytes, never from a name, as downloads are often
// renamed or silently decompressed on the way. Its invariant: it returns io.EOF only after every
// trailer was read and every checksum was verified. A caller that stops early has verified nothing.
//
//	gzip   RFC 1952; several members; zero bytes after the last member, as in gzip(1) (tapes and
//	       block devices)
//	zstd   RFC 8878; several frames and skippable frames; windows up to 64 MiB (zstd --ultra -21);
//	       no dictionaries
//	xz     the .xz format 1.2; several streams, stream padding; LZMA2, also after another filter;
//	       dictionaries up to 64 MiB (xz -9)
//	bzip2  several streams
//	plain  everything else, including empty input and input shorter than a magic number
//
// Anything else after the last member is corrupt, even where gzip(1) only warns. All formats are
// read from start to end: the seek table of a zstd file is skipped, like any skippable frame.
//
// Data is decompressed by the goroutine that reads it, so a bomb expands only as far as it is read.
//
// A header may ask for a window (zstd) or a dictionary (xz), up to the limits above. Such memory is
// not resident before data fills it. The blocks of an xz file share one dictionary. With 64 MiB, a
// whole conversion has a peak of 89 MiB; that of Fashion-MNIST, written with xz -9, one of 71 MiB.
//
// # Writing
//
// A [Writer] splits the work as a sink does: Encode compresses bytes to a [Block], on many
// goroutines; Append writes one block at a time, in order; Close writes the end of the stream. The
// invariant: the output depends on the codec and on where the blocks are cut, never on the number
// of goroutines or on what they compressed before.
//
// gzip (RFC 1952) is one member without name and time:
//
//	1f 8b 08 00 00 00 00 00 00 ff   header: deflate, no flags, no time, unknown system
//	deflate blocks, 00 00 ff ff     per Block: deflated alone, aligned by an empty stored block
//	03 00                           an empty last block
//	CRC32, size mod 2³²             of all data, little-endian; combined from the CRCs of the blocks
//
// As matches cannot reach into an earlier block, blocks should be far larger than deflate's window
// of 32 KiB: at 1 MiB the cost is about 1 % of the size.
//
// zstd (RFC 8878) is one frame with a checksum per Block; package pagezstd makes those of images.
// An empty stream is one empty frame, as an empty file is not a zstd stream.
//
// Formats that compress their own parts use tables of codecs ([Choice]), zstd encoders
// ([ZstdEncoder]), and the memory that an encoder keeps ([Codec.EncoderSize]).
package compressed
