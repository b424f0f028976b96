// Package resample scales pictures by bicubic interpolation, as BICUBIC of Pillow and CatmullRom of
// golang.org/x/image/draw do, but faster than the latter. The kernel is that of Catmull and Rom,
// stretched if the picture becomes smaller (R. G. Keys: Cubic convolution interpolation for digital
// image processing, 1981, with a = -1/2). Pillow also clips samples between its two passes.
//
// Samples differ by less than 1 from the exact ones, before these are rounded, if the picture
// becomes at most 30 times smaller. Stripes and dots of a few pixels may differ by 2 if it becomes
// 60 times smaller, by 3 for 200 times, and by 8 for thousands.
package resample
