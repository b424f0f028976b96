// Package compressed writes a gzip or zstd stream, or a plain one, out of blocks that are compressed in parallel and
// appended in order.
//
// A [Writer] splits the work as a sink does: Encode runs on many goroutines and makes a [Block] out of some bytes; Append
// writes the blocks one at a time, in order; Close writes what ends the stream. The invariant: the output depends on the
// codec and on where the blocks are cut, never on the number of goroutines or on what they compressed before.
//
// gzip (RFC 1952) is one member without name and time:
//
//	1f 8b 08 00 00 00 00 00 00 ff   header: deflate, no flags, no time, unknown system
//	deflate blocks, 00 00 ff ff     per Block: deflated on its own, brought to a byte border by an empty stored block
//	03 00                           an empty last block
//	CRC32, size mod 2³²             of all data, little-endian; the CRC is combined from the blocks' own
//
// As matches cannot reach into the block before, a block should be far larger than deflate's window of 32 KiB: at 1 MiB the
// cost is about 1 % of the size.
//
// zstd (RFC 8878) is one frame with a checksum per Block. An empty stream is one empty frame, as a file of no bytes is
// none. A stream of NewSeekable ends with a seek table, of zstd's seekable format 0.1.0, by which a reader finds the frame that holds a byte of
// the data; to others it is a frame to skip. It takes 12 bytes a frame in memory too, until Close:
//
//	5e 2a 4d 18                     a skippable frame
//	12·n + 9                        its size, as all numbers little-endian, in 4 bytes
//	frame, data, checksum           per frame: its size, that of its data, the low half of the data's XXH64
//	n                               the number of frames, the table's own not among them
//	80                              there are checksums
//	b1 ea 92 8f
//
// The checksums are those that the frames end with, so they cost nothing to make; a reader sees by them that table and frames belong together.
// Where a size has no place in 4 bytes, or if the table would have more than 16 MiB, it is left out. Of batches of 1 MiB, that is beyond 1.4 TB of data.
//
// Formats that compress their own parts take from here what they have in common: tables of codecs ([Choice]), zstd's encoders ([Zstd]), and what
// an encoder keeps in memory ([Codec.EncoderSize]).
package compressed
