package png

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// A general compresses scanlines with a filter chosen per row and a general deflate. It takes about
// a megabyte.
type general struct {
	format     format
	zlib       *zlib.Writer
	out        bytes.Buffer
	candidates [len(filters)][]byte // one line each
	zeros      []byte               // the row above the first
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
func (g *general) deflate(lines []byte) []byte {
	g.out.Reset()
	g.zlib.Reset(&g.out)
	above := g.zeros
	for ; len(lines) > 0; lines = lines[g.format.stride():] {
		row := lines[1:g.format.stride()]
		_, _ = g.zlib.Write(g.filter(row, above)) // to memory, which never fails
		above = row
	}
	_ = g.zlib.Close()
	return g.out.Bytes()
}

// filter returns the line, including its filter byte, of the filter with the smallest differences.
func (g *general) filter(row, above []byte) (best []byte) {
	least := 0
	for i, line := range g.candidates {
		filters[i].apply(line[1:], row, above, g.format.pixelBytes)
		if sum := magnitude(line[1:]); best == nil || sum < least {
			best, least = line, sum
		}
	}
	return best
}

// filters are the filters tried for each row (PNG §9.2). Average is omitted, as it is seldom the
// best, and then by little.
var filters = [...]struct {
	number byte
	apply  func(dst, row, above []byte, pixelBytes int)
}{
	{0, func(dst, row, _ []byte, _ int) { copy(dst, row) }},
	{1, filterSub},
	{2, func(dst, row, above []byte, _ int) {
		for i, b := range above {
			dst[i] = row[i] - b
		}
	}},
	{4, filterPaeth},
}

// filterSub subtracts from each byte the one a pixel to the left.
func filterSub(dst, row, _ []byte, pixelBytes int) {
	n := copy(dst, row[:pixelBytes])
	for i, left := range row[:len(row)-n] {
		dst[i+n] = row[i+n] - left
	}
}

// filterPaeth subtracts from each byte the one that Paeth predicts.
func filterPaeth(dst, row, above []byte, pixelBytes int) {
	for i := range pixelBytes {
		dst[i] = row[i] - above[i] // with nothing to the left, Paeth predicts the byte above
	}
	for i := pixelBytes; i < len(row); i++ {
		dst[i] = row[i] - paeth(int(row[i-pixelBytes]), int(above[i]), int(above[i-pixelBytes]))
	}
}

// Unfilter undoes a filter (PNG §9.2) of a line, whose pixels have size bytes, or returns false.
func Unfilter(filter byte, line, above []byte, size int) bool {
	for i, up := range above[:len(line)] {
		left, corner := 0, 0
		if i >= size {
			left, corner = int(line[i-size]), int(above[i-size])
		}
		switch filter {
		case 0:
			return true
		case 1:
			up = byte(left)
		case 2:
		case 3:
			up = byte((left + int(up)) / 2)
		case 4:
			up = paeth(left, int(up), corner)
		default:
			return false
		}
		line[i] += up
	}
	return true
}

// paeth returns the one of a byte's neighbours left, above and above left that is nearest to left +
// above − above left (PNG §9.4).
func paeth(left, above, aboveLeft int) byte {
	toLeft, toAbove := above-aboveLeft, left-aboveLeft // distances from the estimate
	toBoth := max(toLeft+toAbove, -toLeft-toAbove)
	toLeft, toAbove = max(toLeft, -toLeft), max(toAbove, -toAbove)
	switch {
	case toLeft <= toAbove && toLeft <= toBoth:
		return byte(left)
	case toAbove <= toBoth:
		return byte(above)
	}
	return byte(aboveLeft)
}

// magnitude returns the sum of the absolute differences in line, taken as signed: the usual guess
// of what compresses best (PNG, "Filter selection").
func magnitude(line []byte) (sum int) {
	for _, b := range line {
		sum += max(int(int8(b)), -int(int8(b)))
	}
	return sum
}

// zlibHeader begins a zlib stream: deflate with a window of 32 KiB, fastest level (RFC 1950 §2.2).
const zlibHeader = "\x78\x01"

// maxStored is the maximum size of a stored block, whose length has 16 bits (RFC 1951 §3.2.4).
const maxStored = 65_535

// storedSize returns the size of the zlib stream that stores n > 0 bytes.
func storedSize(n int) int {
	blocks := (n + maxStored - 1) / maxStored
	return len(zlibHeader) + 5*blocks + n + 4
}

// appendStored appends the zlib stream that stores lines uncompressed.
func appendStored(dst, lines []byte) []byte {
	dst = append(dst, zlibHeader...)
	for rest := lines; len(rest) > 0; {
		block := rest[:min(len(rest), maxStored)]
		rest = rest[len(block):]
		last := byte(0)
		if len(rest) == 0 {
			last = 1
		}
		dst = append(dst, last) // BFINAL, BTYPE 00, padding to the byte
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(block)))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(len(block)))
		dst = append(dst, block...)
	}
	return binary.BigEndian.AppendUint32(dst, adler32.Checksum(lines))
}
