// Package samples has the arithmetic of JPEG: samples of coefficients, and pixels of samples.
// Processors with AVX2 do it for eight numbers at once, in an assembly that has the names of the
// functions in Go, and their order.
//
// The invariant: samples and pixels are those of image/jpeg and image/color as of Go 1.26, to the
// bit, for all numbers.
package samples
