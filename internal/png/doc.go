// Package png writes many small images as PNG files, fast: the 28×28 images of a data set like
// MNIST take a few microseconds each. It reads no files, as image/png does, but undoes filters.
//
// An [Encoder] is created for images of one size and kind and then appends one complete file per
// call of [Encoder.Append]. The invariant: a file depends on the pixels alone, never on earlier
// images, so however the work is split among encoders, they give the same bytes.
//
// # The file
//
// A PNG file (ISO/IEC 15948, https://www.w3.org/TR/png-3/) is a signature and chunks. A chunk is
// its length (4 bytes, big-endian, of the data only), its type (4 letters), the data, and the
// CRC-32 of type and data. This package writes the three chunks that are required:
//
//	89 50 4e 47 0d 0a 1a 0a                       signature
//	0000000d IHDR width height depth colour …     13 bytes, the same for every image
//	........ IDAT zlib stream                     the pixels
//	00000000 IEND ae426082                        no data
//
// The zlib stream (RFC 1950) contains the scanlines: for each row a byte that identifies its
// filter, then the row's bytes. Samples of 16 bits are big-endian. A filter replaces each byte by
// its difference from a prediction, which suits photographs; filter 0 (none) suits drawings, glyphs
// and the like.
//
// # Three ways to compress
//
//   - Small images: filter 0, one deflate block (RFC 1951) with the fixed Huffman codes, and
//     matches at two distances only: the previous pixel (a run) and the row above. There is no hash
//     table to clear and no code to send.
//   - Larger images, and small ones that the first way does not shrink: a filter chosen per row and
//     a general deflate.
//   - Data that neither shrinks (noise) is stored, which costs 5 bytes per 65,535.
package png
