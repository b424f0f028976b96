// Package sheet draws many small images side by side for people to look at: as one PNG file, or as
// text for a terminal.
//
// A [Tile] is an image of 8-bit samples. [New] arranges [Group]s of tiles on a contact sheet: the
// lines of a group begin with its heading, in a bitmap font for ASCII, and every tile has a thin
// frame.
//
//	9 Ankle boot   ┌──┬──┬──┐
//	               │  │  │  │
//	               ├──┼──┼──┘
//	0 T-shirt/top  │  │  │
//	               └──┴──┘
//
// [Terminal.Print] draws tiles with captions for a terminal: two pixels per character with half
// blocks in colour, or characters of different weight if there are no colours.
//
// The invariant: pixels on a sheet are enlarged by a whole factor and otherwise unchanged, so the
// sheet shows each tile exactly, at the place and scale that [Sheet.At] returns.
package sheet
