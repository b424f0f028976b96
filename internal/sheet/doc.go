// Package sheet draws many small images side by side: on a page, or as text for a terminal.
//
// A [Picture] is an image with a caption. On a page, a caption begins a new line and is its
// heading, in a bitmap font for ASCII, and every image has a thin frame:
//
//	9 Ankle boot   ┌──┬──┬──┐
//	               │  │  │  │
//	               ├──┼──┼──┘
//	0 T-shirt/top  │  │  │
//	               └──┴──┘
//
// [Terminal.Print] draws images above their captions: two pixels per character with half blocks in
// colour, or characters of different weight if there are no colours.
//
// The invariant: a page shows each image exactly, with its pixels enlarged by a whole factor.
package sheet
