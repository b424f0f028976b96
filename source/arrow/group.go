package arrow

import (
	"encoding/binary"

	"github.com/idxport/idxport/source"
)

// A group reads a tensor of which each element is a column of its own, all of the same type or converted to it.
type group struct {
	column *column
	leaves []*field
	stores []source.Number
}

func (g *group) fetch(b *batch, from, n int64, w *work, _ []byte) error {
	size := 0
	for _, s := range g.stores {
		size += g.size(s, n)
	}
	w.raw = grow(w.raw, size)
	w.bit = int(from % 8)
	at := 0
	for i, leaf := range g.leaves {
		s := g.stores[i]
		start := from * int64(s.Size())
		if s == source.NumberBool {
			start = from / 8
		}
		part := w.raw[at : at+g.size(s, n)]
		if s == source.NumberBool { // no more bytes than there are
			part = part[:(int64(w.bit)+n+7)/8]
		}
		if err := b.read(part, leaf, 1, start); err != nil {
			return err
		}
		at += g.size(s, n)
	}
	return nil
}

// size is the room for n elements of s.
func (g *group) size(s source.Number, n int64) int {
	if s == source.NumberBool {
		return int(n/8) + 2
	}
	return int(n) * s.Size()
}

func (g *group) finish(b *batch, from, n int64, w *work, dst []byte) error {
	d := g.column.DType
	raw, converted := w.raw, false
	for _, s := range g.stores {
		converted = converted || !s.Is(d)
	}
	if converted {
		w.extra = grow(w.extra, len(dst))
		at := 0
		for i, s := range g.stores {
			to := w.extra[i*int(n)*d.Size() : (i+1)*int(n)*d.Size()]
			from0 := w.raw[at : at+g.size(s, n)]
			at += g.size(s, n)
			if s.Is(d) {
				copy(to, from0)
				continue
			}
			if bad, value := s.Convert(to, d, from0, w.bit, int(n)); bad >= 0 {
				return g.column.outside(b, from+int64(bad), value)
			}
		}
		raw = w.extra
	}
	interleave(dst, raw, len(g.leaves), int(n), d.Size())
	return nil
}

// tileRows is how many rows interleave fills at a time, so that the lines of the cache that it writes to stay near.
const tileRows = 32

// interleave makes rows of the columns in src, which stand one behind another.
func interleave(dst, src []byte, columns, rows, size int) {
	for first := 0; first < rows; first += tileRows {
		last := min(first+tileRows, rows)
		for c := range columns {
			from, to := src[c*rows*size:(c+1)*rows*size], dst[c*size:]
			stride := columns * size
			switch size {
			case 1:
				for r := first; r < last; r++ {
					to[r*stride] = from[r]
				}
			case 2:
				for r := first; r < last; r++ {
					binary.LittleEndian.PutUint16(to[r*stride:], binary.LittleEndian.Uint16(from[2*r:]))
				}
			case 4:
				for r := first; r < last; r++ {
					binary.LittleEndian.PutUint32(to[r*stride:], binary.LittleEndian.Uint32(from[4*r:]))
				}
			default:
				for r := first; r < last; r++ {
					binary.LittleEndian.PutUint64(to[r*stride:], binary.LittleEndian.Uint64(from[8*r:]))
				}
			}
		}
	}
}
