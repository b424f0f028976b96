// Package jpeg decodes the usual JPEG files in a fifth of the time of image/jpeg, or in a third
// without AVX2, to the same samples: baseline, grey or Y'CbCr with 8 bits, one scan, no restart
// markers, and components as nearly all programs number them (ITU-T T.81, whose sections are given
// in comments, and T.871, JFIF). Others, and damaged ones, are left to image/jpeg.
//
// The invariant: a file that is not left to image/jpeg has the same samples there, as of Go 1.26,
// to the bit, and each bit of its scan is used.
package jpeg
