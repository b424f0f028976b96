package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/png"
)

// A plainDecoder decodes the most common kind of small image: 8 bits, no palette, not interlaced,
// with a single IDAT chunk between the header and the end. It is reused, because image/png leaves
// 47 KB of garbage for each file, a third of its time on MNIST.
type plainDecoder struct {
	in    io.ReadCloser // a zlib reader, which is reset for each file
	lines []byte        // a line of zeros, then those of the picture, each after the byte of its filter
}

var plainDecoders = sync.Pool{New: func() any {
	in, _ := zlib.NewReader(strings.NewReader("\x78\x9c")) // a header, which is all that it reads
	return &plainDecoder{in: in}
}}

// appendPlain appends the samples of file, by sections 5 and 11.2.2 of the PNG specification. ok is
// false if it has other chunks than IHDR, one IDAT and IEND, is damaged, or is no picture of f.
func (f Format) appendPlain(dst, file []byte) (record []byte, ok bool) {
	rest, begins := bytes.CutPrefix(file, png.Header(make([]byte, 0, 64), f.Width, f.Height, f.Channels, 8))
	chunk, ends := bytes.CutSuffix(rest, []byte(png.End))
	end := len(chunk) - 4 // of the data, before the checksum
	if f.Depth != 8 || !begins || !ends || end < 8 || string(chunk[4:8]) != "IDAT" ||
		int64(binary.BigEndian.Uint32(chunk)) != int64(end-8) ||
		crc32.ChecksumIEEE(chunk[4:end]) != binary.BigEndian.Uint32(chunk[end:]) {
		return dst, false
	}
	d := plainDecoders.Get().(*plainDecoder)
	defer plainDecoders.Put(d)
	_ = d.in.(zlib.Resetter).Reset(bytes.NewReader(chunk[8:end]), nil) // Read returns its error, too
	line := 1 + f.Width*f.Channels
	d.lines = slices.Grow(d.lines[:0], line*(1+f.Height))[:line*(1+f.Height)]
	clear(d.lines[:line])
	_, err := io.ReadFull(d.in, d.lines[line:])
	if n, end := d.in.Read(make([]byte, 1)); err != nil || n != 0 || end != io.EOF { // this verifies the checksum
		return dst, false
	}
	for above, lines := d.lines[:line], d.lines[line:]; len(lines) > 0; above, lines = lines[:line], lines[line:] {
		if !unfilter(lines[0], lines[1:line], above[1:], f.Channels) {
			return nil, false
		}
		dst = append(dst, lines[1:line]...)
	}
	return dst, true
}

// unfilter undoes a filter (PNG specification, 9.2) of a line, whose pixels have size bytes.
func unfilter(filter byte, line, above []byte, size int) bool {
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
			up = png.Paeth(left, int(up), corner)
		default:
			return false
		}
		line[i] += up
	}
	return true
}
