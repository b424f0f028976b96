package png

import (
	"io"

	"github.com/klauspost/compress/zlib"
)

// A general compresses scanlines with a filter chosen per row and a general deflate. It holds about a megabyte.
type general struct {
	format     format
	zlib       *zlib.Writer
	out        buffer
	candidates [len(filters)][]byte // one line each
	zeros      []byte               // the row above the first
}

// A buffer collects what is written to it; writing never fails.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func newGeneral(f format) *general {
	g := &general{format: f, zlib: zlib.NewWriter(io.Discard), zeros: make([]byte, f.rowBytes)}
	for i := range g.candidates {
		g.candidates[i] = make([]byte, f.stride())
		g.candidates[i][0] = filters[i].number
	}
	return g
}

// deflate returns the zlib stream of lines, filtered. It is valid until the next call.
func (g *general) deflate(lines []byte) ([]byte, error) {
	g.out = g.out[:0]
	g.zlib.Reset(&g.out)
	above := g.zeros
	for ; len(lines) > 0; lines = lines[g.format.stride():] {
		row := lines[1:g.format.stride()]
		if _, err := g.zlib.Write(g.filter(row, above)); err != nil {
			return nil, err
		}
		above = row
	}
	err := g.zlib.Close()
	return g.out, err
}

// filter returns the line, filter byte and all, of the filter that leaves the smallest differences.
func (g *general) filter(row, above []byte) []byte {
	var best []byte
	least := 0
	for i, line := range g.candidates {
		filters[i].apply(line[1:], row, above, g.format.pixelBytes)
		if sum := magnitude(line[1:]); best == nil || sum < least {
			best, least = line, sum
		}
	}
	return best
}
