// Package resample scales pictures by bicubic interpolation, as BICUBIC of Pillow and CatmullRom of
// golang.org/x/image/draw do, in a quarter of the latter's time. The kernel is that of Catmull and
// Rom, stretched if the picture becomes smaller (R. G. Keys: Cubic convolution interpolation for
// digital image processing, 1981, with a = -1/2).
//
// Samples differ by less than 1 from the exact ones, before these are rounded; by a little more if
// a picture of black and white noise becomes a hundred times smaller.
package resample
