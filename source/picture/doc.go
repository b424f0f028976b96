// Package picture turns image files into records: the samples of all pixels in C order, row by row
// from the top. It reads PNG, JPEG, WebP, BMP, TIFF and GIF, whatever the name of the file.
//
// A [Format] describes the records of a column of pictures. [Options.Describe] finds it in a file,
// not decoded. [Format.Append] takes files of it, and grey and opaque ones for records of colours.
//
//	grey up to 8 bits   8 bits, [H W], scaled to 0…255 (section 13.12 of the PNG specification)
//	grey of 16 bits     int16, because IDX has no uint16: samples above 32767 are errors
//	colours of 8 bits   unchanged, [H W 3]; those of 16 bits and CMYK are refused
//	palettes            their colours; if all are grey, [H W]
//	alpha               of PNG is a fourth channel, [H W 4], also of grey; others must be opaque
//	JPEG, lossy WebP    grey or converted from YCbCr, see [Options.Decoders]
//	GIF                 the first frame, which must fill the screen
//
// Gamma, colour profiles and significant bits (gAMA, iCCP, sRGB, sBIT) are not applied, and alpha
// is not premultiplied. Files that EXIF or XMP data turn or mirror, and TIFF files of several
// pages, from fax machines, of planes, or with other samples than they describe are refused.
// [Options] make opaque pictures of 8 bits grey (ITU-R 601, to the nearest), and then scale them
// (bicubic, Catmull-Rom). Pictures of other sizes are not decoded, those above 4 MiB in turn.
package picture
