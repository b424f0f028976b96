// Package compressed writes a gzip, zstd or plain stream from blocks that are compressed in
// parallel and appended in order.
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
// An empty stream is one empty frame, as an empty file is not a zstd stream. A stream of
// NewSeekable ends with the seek table of zstd's seekable format 0.1.0, with which a reader finds
// the frame of any byte of the data; other readers skip it:
//
//	5e 2a 4d 18                     a skippable frame
//	12·n + 9                        its size; all numbers have 4 bytes, little-endian
//	frame, data, checksum           per frame: two sizes, the low half of the data's XXH64
//	n                               the number of frames, without this one
//	80                              there are checksums
//	b1 ea 92 8f
//
// Until Close, the table takes 12 bytes of memory per frame. The checksums are copied from the ends
// of the frames; with them a reader checks that the table belongs to the frames. The table is left
// out if a size does not fit 4 bytes or if the table would exceed 16 MiB, which with batches of 1
// MiB means more than 1.4 TB of data.
//
// Formats that compress their own parts use some pieces of this package: tables of codecs
// ([Choice]), zstd encoders ([Zstd]), and the memory that an encoder keeps ([Codec.EncoderSize]).
package compressed
