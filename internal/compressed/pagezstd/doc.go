// Package pagezstd writes zstd frames (RFC 8878) of pages of pixels. A general encoder spends most
// of its time on the search for matches, but the only long ones in such pages are runs: of the
// background, and of white. This package looks for nothing else, and so takes a third of the time
// of the fastest level of github.com/klauspost/compress/zstd, for fewer bytes. Section numbers in
// this package are those of the RFC.
//
// A frame consists of blocks of up to 128 KiB. A block has literals, which are bytes that are coded
// by their frequency (Huffman), and sequences. A sequence has two lengths and an offset. The
// decoder copies as many literals as the first length says. Then it copies a match: as many bytes
// as the second length says, from the place in the output that lies offset bytes back. Here, a run
// becomes one literal, its first byte, and a match from one byte back. All matches have this
// offset, and each follows a literal, so that the offset is always the first repeat offset, which
// is 1 at the beginning of a frame and takes no bits. The lengths are coded by finite state
// entropy, with tables fitted to the block, or with the predefined ones if that is shorter.
//
// A page of Parquet begins with levels, a few bytes that repeat for each record. They are a block
// of their own with one long match, so that they do not distort the tables of the pixels.
//
// The frame of 20 zeros, 7, 9 and 30 zeros:
//
//	28 b5 2f fd   magic number
//	c0            the size of the contents has eight bytes; no checksum
//	38            a window of 128 KiB
//	34 00 00 00   52 bytes of contents
//	00 00 00 00
//	6d 00 00      the last block; compressed; 13 bytes
//	4c 00 00      literals section: raw, 4 bytes
//	00 07 09 00   literals: 0, and 7, 9, 0
//	02            2 sequences
//	10            tables of lengths: predefined; of offsets: a single code
//	00            offset code 0: the first repeat offset
//	f7 24 57      bits, read from the end: 1 (start), 010111 and 001001 (the states of a literals
//	              length of 1 and a match length of 19), and 0011110111 (to the states of 3 and 29)
//
// The caller decides whether a page has enough runs for this package: see [Encoder.Matched].
package pagezstd
