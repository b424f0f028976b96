// Package sheet draws many small images side by side, to be looked at: as one PNG file, or as text for a terminal.
//
// A [Tile] is an image of 8-bit samples. [New] lays [Group]s of tiles out as a contact sheet: the lines of a group begin with its heading, in a
// bitmap font for ASCII, and every tile has a thin frame.
//
//	9 Ankle boot   ┌──┬──┬──┐
//	               │  │  │  │
//	               ├──┼──┼──┘
//	0 T-shirt/top  │  │  │
//	               └──┴──┘
//
// [Print] draws tiles with captions for a terminal: two pixels a character with half blocks in colour, or letters of different weight where
// there are no colours.
//
// The invariant: on a sheet, pixels are enlarged by a whole factor and nothing else is done to them, so what the sheet shows at
// [Sheet.At] is what the tile holds.
package sheet
