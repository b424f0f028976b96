package main

import (
	"encoding/binary"
	"math"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/sheet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// tiles decides how the values of what was picked become 8 bits, and returns what does that. Bytes are shown as they are, unless they are only
// 0 and 1, as masks are; other types from the smallest to the largest value that is shown, which is noted.
func (k *picker) tiles(t *convert.Table) func(shot) sheet.Tile {
	low, high, finite := k.span()
	raw := k.column.DType == idx.Uint8 && high != 1
	switch {
	case raw:
	case !finite:
		t.Note("%s: no value is finite: infinity is shown as white, all else as black", t.Name)
	default:
		if k.column.DType == idx.Uint8 {
			low = 0
		}
		t.Note("%s: the values %s to %s are shown as black to white", t.Name, numberText(low), numberText(high))
	}
	return func(s shot) sheet.Tile {
		t := sheet.Tile{Width: k.view.Width, Height: k.view.Height, Channels: k.view.Channels, Pix: make([]byte, k.column.Elements())}
		plane := t.Width * t.Height
		for i := range t.Pix {
			from := i
			if k.view.Planes {
				from = i%t.Channels*plane + i/t.Channels
			}
			if raw {
				t.Pix[i] = s.record[from]
			} else {
				t.Pix[i] = shade(element(k.column.DType, s.record, from), low, high)
			}
		}
		return t
	}
}

// span is the smallest and the largest finite value that was picked; 0, 0 and false if there is none.
func (k *picker) span() (low, high float64, finite bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, shots := range k.shots {
		for _, s := range shots {
			for i := range k.column.Elements() {
				if v := element(k.column.DType, s.record, i); !math.IsNaN(v) && !math.IsInf(v, 0) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if low > high {
		return 0, 0, false
	}
	return low, high, true
}

// shade is v as a grey between black for low and white for high; NaN is black, and so is everything where all values are one.
func shade(v, low, high float64) byte {
	if math.IsNaN(v) || v <= low {
		return 0
	}
	if v >= high {
		return 255
	}
	return byte(math.Round(255 * (v/2 - low/2) / (high/2 - low/2))) // halves: the whole range of doubles has no overflow
}

// element is element i of little-endian data of type d.
func element(d idx.DType, data []byte, i int) float64 {
	switch d {
	case idx.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	case idx.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return float64(source.Int(d, data, i))
}
