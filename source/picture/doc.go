// Package picture turns PNG files into records: the samples of all pixels in C order, row by row from the top.
//
// A [Format] says what records of which size and type the pictures of a column are. [Describe] finds it in the first chunks of a file, without
// decoding anything, so that its size can be compared with a limit; [Format.Append] decodes a file and demands that it is of that format.
//
// # What samples become
//
//	grey of 1, 2, 4 bits   8 bits, spread over 0…255 as section 13.12 of the PNG specification says
//	grey of 8 bits         as they are, [H W]
//	colours of 8 bits      as they are, [H W 3], with alpha [H W 4]
//	16 bits                int16, as the six types of IDX files have no unsigned one: samples above 32767 are refused
//	palettes               their colours, [H W 3], with transparent entries [H W 4]
//	grey and alpha         [H W 4], red = green = blue = grey
//
// Samples are taken as they stand: gamma, colour profiles and significant bits (gAMA, iCCP, sRGB, sBIT) are not applied. Alpha is not multiplied in.
package picture
