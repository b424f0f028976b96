package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"slices"

	"github.com/idxport/idxport/fault"
)

// maxExpansion is the largest factor by which deflate can shrink data: a match of 258 bytes takes
// at least two bits.
const maxExpansion = 1032

// Append appends the samples of the PNG file to dst as a record: in C order, little-endian. It
// fails if file is damaged, if its format is not f, or if a sample of 16 bits exceeds 32767. It
// allocates at most one picture of f, and only if file is long enough to contain one.
func (f Format) Append(dst, file []byte) (record []byte, err error) {
	h, err := parse(file)
	if err != nil {
		return dst, err
	}
	if !h.fits(f) {
		return dst, fault.New(fault.Malformed, "found %v, expected %v", h.format, f).WithHint("all images must have the same size and type: resize this one, or move it away")
	}
	if h.minLinesSize/maxExpansion > int64(len(file)) {
		return dst, fault.New(fault.Truncated, "the header says %v, but the file has only %d bytes", f, len(file)).
			WithHint("the file is incomplete: download or write it again")
	}
	defer func() {
		if p := recover(); p != nil {
			record, err = dst, fault.New(fault.Malformed, "decoding failed: %v", p)
		}
	}()
	if record, ok := f.appendPlain(dst, file); ok {
		return record, nil
	}
	return f.appendAny(dst, file)
}

// appendAny decodes any PNG file with image/png. The caller has compared the header with f.
func (f Format) appendAny(dst, file []byte) ([]byte, error) {
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return dst, fault.New(fault.Malformed, "the image is damaged: %v", err).WithHint("the file is incomplete: download or write it again")
	}
	start := len(dst)
	if dst, err = f.appendSamples(slices.Grow(dst, int(f.Size())), m); err != nil {
		return dst[:start], err
	}
	if found := int64(len(dst) - start); found != f.Size() {
		return dst[:start], fault.New(fault.Malformed, "the image has %d bytes of samples, expected %d", found, f.Size())
	}
	return dst, nil
}

// appendSamples appends the samples of m, which has one of the types that image/png returns.
func (f Format) appendSamples(dst []byte, m image.Image) ([]byte, error) {
	switch m := m.(type) {
	case *image.Gray:
		return appendRows(dst, m.Pix, m.Stride, f.Width, f.Height, 1, 1), nil
	case *image.RGBA: // opaque
		return appendRows(dst, m.Pix, m.Stride, f.Width, f.Height, 4, f.Channels), nil
	case *image.NRGBA:
		return appendRows(dst, m.Pix, m.Stride, f.Width, f.Height, 4, f.Channels), nil
	case *image.Paletted:
		return f.appendColors(dst, m)
	case *image.Gray16:
		return f.appendSwapped(dst, appendRows(nil, m.Pix, m.Stride, f.Width, f.Height, 2, 2))
	case *image.RGBA64: // opaque
		return f.appendSwapped(dst, appendRows(nil, m.Pix, m.Stride, f.Width, f.Height, 8, 2*f.Channels))
	case *image.NRGBA64:
		return f.appendSwapped(dst, appendRows(nil, m.Pix, m.Stride, f.Width, f.Height, 8, 2*f.Channels))
	}
	return dst, fault.New(fault.Malformed, "the image is a %T, which is not expected of PNG", m)
}

// appendRows appends the first keep bytes of each pixel of pix, which takes size bytes.
func appendRows(dst, pix []byte, stride, width, height, size, keep int) []byte {
	for y := range height {
		row := pix[y*stride : y*stride+width*size]
		if keep == size {
			dst = append(dst, row...)
			continue
		}
		for x := 0; x < len(row); x += size {
			dst = append(dst, row[x:x+keep]...)
		}
	}
	return dst
}

// appendSwapped appends samples of 16 bits, big-endian as in PNG, as little-endian ones.
func (f Format) appendSwapped(dst, samples []byte) ([]byte, error) {
	for i := 0; i < len(samples); i += 2 {
		v := binary.BigEndian.Uint16(samples[i:])
		if v > 32767 {
			pixel := i / 2 / f.Channels
			return dst, fault.New(fault.Malformed, "the pixel at x = %d, y = %d has a sample of %d, expected at most 32767", pixel%f.Width, pixel/f.Width, v).
				WithHint("IDX files have no unsigned type of 16 bits: halve the samples, or write 8 bits")
		}
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	return dst, nil
}

// appendColors appends the colour of each pixel of m, which is an index in its palette.
func (f Format) appendColors(dst []byte, m *image.Paletted) ([]byte, error) {
	var table [256][4]byte
	for i, c := range m.Palette {
		switch c := c.(type) {
		case color.RGBA: // opaque
			table[i] = [4]byte{c.R, c.G, c.B, c.A}
		case color.NRGBA:
			table[i] = [4]byte{c.R, c.G, c.B, c.A}
		default:
			return dst, fault.New(fault.Malformed, "a palette of %T", c)
		}
	}
	for y := range f.Height {
		for _, v := range m.Pix[y*m.Stride : y*m.Stride+f.Width] {
			dst = append(dst, table[v][:f.Channels]...)
		}
	}
	return dst, nil
}
