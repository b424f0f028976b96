// Package inflate decodes DEFLATE, the compression of gzip files, faster than the general
// libraries. It knows no container: headers, trailers and checksums are left to the caller.
//
// A [Reader] accepts and rejects exactly the streams that compress/flate does. Its invariant: it
// takes the bytes of the stream from its input and not one more, so that after io.EOF a gzip
// trailer or another member can be read from the same bufio.Reader.
//
// # The format
//
// RFC 1951 packs bits into bytes from the lowest bit up. A stream is a sequence of blocks. Each
// begins with one bit that is set in the last block, and two bits for its kind:
//
//	0  stored    to the next byte boundary; LEN and its complement NLEN, 2 bytes each,
//	             little-endian; LEN bytes
//	1  fixed     symbols in the code of section 3.2.6
//	2  dynamic   the lengths of two Huffman codes, themselves in a Huffman code (3.2.7); then
//	             symbols in those codes
//	3  reserved  an error
//
// A symbol of the first code is a literal byte (0 to 255), the end of the block (256) or a length
// (257 to 285: 3 to 258 bytes, some with extra bits). A length is followed by a symbol of the
// second code, a distance of 1 to 32,768 bytes, also with extra bits: the data continues with a
// copy of the bytes at that distance back. The copy may overlap itself: distance 1 repeats a byte.
//
// Only the lengths of the codes are sent. Shorter codes come first, and of codes of equal length
// that of the smaller symbol (3.2.2). A code must use up all bit patterns, with two exceptions: a
// single symbol may have a code of one bit, and a code may be empty if nothing is read with it.
//
// As an example, 4b 4c 84 01 00 is the data "aaaaaaaaaa":
//
//	4b        4c        84        01        00
//	01001011  01001100  10000100  00000001  00000000
//
//	1               last block
//	10              kind 1 (the number's lowest bit comes first)
//	10010001        'a': literals 0 to 143 are codes 00110000 to 10111111, their highest bit first
//	10010001        'a'
//	0000110         symbol 262: a length of 8
//	00000           symbol 0: a distance of 1
//	0000000         symbol 256, the end; 2 bits are left over
//
// # Why it is fast
//
// Codes are looked up in tables of two levels (table.go). Far from the ends of the input buffer and
// the window, symbols are decoded from a 64-bit buffer without checking either (fast.go); others,
// and all errors, are decoded one at a time and bit by bit (reader.go). Both use the same tables.
package inflate
