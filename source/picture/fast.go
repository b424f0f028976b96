package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sync"
)

// A plainDecoder decodes the most common kind of small image: 8 bits, no palette, not interlaced,
// with a single IDAT chunk between the header and the end. It is reused, because image/png leaves
// 47 KB of garbage for each file, a third of its time on MNIST.
type plainDecoder struct {
	data  bytes.Reader
	in    io.ReadCloser // a zlib reader, which is reset for each file
	lines []byte        // filtered, each after the byte that names its filter
	zeros []byte        // above the first line; may be longer than a line
}

// plainDecoders has the decoders that are not in use.
var plainDecoders = sync.Pool{New: func() any { return new(plainDecoder) }}

// appendPlain appends the samples of file. If file is no such picture of f or is damaged, ok is
// false and dst is unchanged: appendAny then decodes file or reports the error.
func (f Format) appendPlain(dst, file []byte) (record []byte, ok bool) {
	if f.options.converts() || len(file) < len(signature) || string(file[:len(signature)]) != signature {
		return dst, false
	}
	header, rest, ok := chunk(file[len(signature):], "IHDR")
	if !ok || len(header) != headerSize || !f.isPlain(header) {
		return dst, false
	}
	pixels, rest, ok := chunk(rest, "IDAT")
	if !ok || checkLength(file, f.Width, f.Height, 8*f.Channels) != nil {
		return dst, false
	}
	if end, _, ok := chunk(rest, "IEND"); !ok || len(end) > 0 {
		return dst, false
	}
	d := plainDecoders.Get().(*plainDecoder)
	defer plainDecoders.Put(d)
	if !d.inflate(pixels, f) {
		return dst, false
	}
	line := f.Width * f.Channels
	start := len(dst)
	dst = slices.Grow(dst, line*f.Height)
	if len(d.zeros) < line {
		d.zeros = make([]byte, line)
	}
	above := d.zeros[:line]
	for y := range f.Height {
		filtered := d.lines[y*(line+1) : (y+1)*(line+1)]
		dst = append(dst, filtered[1:]...)
		samples := dst[len(dst)-line:]
		if !unfilter(filtered[0], samples, above, f.Channels) {
			return dst[:start], false
		}
		above = samples
	}
	return dst, true
}

// isPlain reports whether header, the data of IHDR, is that of a picture of f without interlacing.
func (f Format) isPlain(header []byte) bool {
	width, height := int64(binary.BigEndian.Uint32(header)), int64(binary.BigEndian.Uint32(header[4:]))
	depth, color := int(header[8]), header[9]
	return width == int64(f.Width) && height == int64(f.Height) && depth == 8 && f.Depth == 8 &&
		(color == grey && f.Channels == 1 || color == trueColor && f.Channels == 3 || color == withAlpha &&
			f.Channels == 4) &&
		header[10]|header[11]|header[12] == 0
}

// chunk returns the data of the first chunk of file, and the bytes after the chunk. ok is false if
// the chunk is not of the given kind, is not complete, or has a wrong checksum.
func chunk(file []byte, kind string) (data, rest []byte, ok bool) {
	if len(file) < chunkFrame || string(file[4:8]) != kind {
		return nil, nil, false
	}
	size := int64(binary.BigEndian.Uint32(file))
	if size > int64(len(file)-chunkFrame) {
		return nil, nil, false
	}
	end := 8 + int(size)
	return file[8:end], file[end+4:], crc32.ChecksumIEEE(file[4:end]) == binary.BigEndian.Uint32(file[end:])
}

// inflate decompresses data to d.lines. It reports whether data has exactly the lines of a picture
// of f.
func (d *plainDecoder) inflate(data []byte, f Format) bool {
	d.data.Reset(data)
	var err error
	if d.in == nil {
		d.in, err = zlib.NewReader(&d.data)
	} else {
		err = d.in.(zlib.Resetter).Reset(&d.data, nil)
	}
	if err != nil {
		d.in = nil
		return false
	}
	size := f.Height * (f.Width*f.Channels + 1)
	if cap(d.lines) < size {
		d.lines = make([]byte, size)
	}
	d.lines = d.lines[:size]
	if _, err := io.ReadFull(d.in, d.lines); err != nil {
		return false
	}
	var more [1]byte
	n, err := d.in.Read(more[:]) // this verifies the checksum
	return n == 0 && err == io.EOF
}

// unfilter undoes a filter of section 9.2 of the PNG specification. above is the line before, zeros
// for the first line; size is the number of bytes of a pixel.
func unfilter(filter byte, line, above []byte, size int) bool {
	switch filter {
	case 0:
	case 1:
		for i := size; i < len(line); i++ {
			line[i] += line[i-size]
		}
	case 2:
		for i := range line {
			line[i] += above[i]
		}
	case 3:
		for i := range min(size, len(line)) {
			line[i] += above[i] / 2
		}
		for i := size; i < len(line); i++ {
			line[i] += byte((int(line[i-size]) + int(above[i])) / 2)
		}
	case 4:
		for i := range min(size, len(line)) {
			line[i] += above[i]
		}
		for i := size; i < len(line); i++ {
			line[i] += paeth(line[i-size], above[i], above[i-size])
		}
	default:
		return false
	}
	return true
}

// paeth returns the one of left, up and corner that is nearest to left + up − corner.
func paeth(left, up, corner byte) byte {
	a, b := abs(int(up)-int(corner)), abs(int(left)-int(corner))
	c := abs(int(left) + int(up) - 2*int(corner))
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return up
	}
	return corner
}

func abs(v int) int { return max(v, -v) }
