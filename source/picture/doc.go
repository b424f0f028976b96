// Package picture turns PNG files into records: the samples of all pixels in C order, row by row
// from the top.
//
// A [Format] describes the records of a column of pictures. [Describe] finds the format in the
// first chunks of a file without decoding anything, so that the size of a record can be checked
// against a limit. [Format.Append] decodes a file and requires it to have the format.
//
// # How samples are converted
//
//	grey of 1, 2, 4 bits   8 bits, scaled to 0…255 as in section 13.12 of the PNG specification
//	grey of 8 bits         unchanged, [H W]
//	colours of 8 bits      unchanged, [H W 3], with alpha [H W 4]
//	16 bits                int16, because IDX has no uint16: samples above 32767 are errors
//	palettes               their colours, [H W 3], with transparent entries [H W 4]; opaque greys
//	                       also fit records of 8-bit grey, [H W]
//	grey and alpha         [H W 4], red = green = blue = grey
//
// Gamma, colour profiles and significant bits (gAMA, iCCP, sRGB, sBIT) are not applied. Alpha is
// not premultiplied.
package picture
