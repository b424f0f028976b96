// Package picture turns image files into records: the samples of all pixels in C order, row by row
// from the top. It reads PNG, JPEG, WebP, BMP, TIFF and GIF, whatever the name of the file.
//
// A [Format] describes the records of a column of pictures. [Options.Describe] finds the format in
// a file without decoding it, so that the size of a record can be checked against a limit.
// [Format.Append] decodes a file and requires it to have the format.
//
// # How samples are converted
//
//	grey of 1, 2, 4 bits   8 bits, scaled to 0…255 as in section 13.12 of the PNG specification
//	grey of 8 bits         unchanged, [H W]
//	colours of 8 bits      unchanged, [H W 3]
//	16 bits                int16, because IDX has no uint16: samples above 32767 are errors
//	palettes               their colours, [H W 3]; opaque greys also fit records of grey, [H W]
//	alpha                  in PNG files a fourth channel, [H W 4], also for palettes and for grey,
//	                       as red = green = blue = grey; in other files it must be opaque
//	JPEG, lossy WebP       [H W], or [H W 3] converted from YCbCr by the Go packages; their pixels
//	                       depend on the decoder, see [Options.Decoders]
//	GIF                    the first frame, which must fill the screen
//
// Gamma, colour profiles and significant bits (gAMA, iCCP, sRGB, sBIT) are not applied. Alpha is
// not premultiplied. Files whose EXIF data say that the picture is to be turned or mirrored are
// refused, because some programs do so and others do not; so are TIFF files of several pages.
//
// With [Options], pictures of 8 bits become grey (ITU-R 601, as [color.GrayModel] does) and then
// have another size (bicubic, Catmull-Rom). Alpha must then be opaque.
//
// # Safety
//
// Dimensions are checked before anything is allocated, and pictures of more than 4 MiB of samples
// are decoded one after another.
package picture
