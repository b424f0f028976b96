package png

import (
	"encoding/binary"
	"fmt"

	codec "github.com/idxport/idxport/png"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// An image says how the records of a column become pixels.
type image struct {
	height, width int
	channels      int // 1, 3 or 4
	depth         int // bits of a sample: 8, or 16 for one channel
	planes        bool
}

// colors are those of 1, 3 and 4 channels.
var colors = [...]codec.Color{1: codec.Gray, 3: codec.RGB, 4: codec.RGBA}

// newImage decides what images the records of c are, which have at least two dimensions.
func newImage(c source.Column, channels string) (image, error) {
	if channels != "" && channels != "last" && channels != "first" {
		return image{}, unsupported("", "found channels %q, expected first or last", channels)
	}
	if len(c.Shape) > 3 {
		return image{}, unsupported(adviceOther, "column %q has records of %d dimensions, expected two or three", c.Name, len(c.Shape))
	}
	if c.Elements() == 0 {
		return image{}, unsupported("convert to Parquet or Arrow instead, which keep empty records",
			"column %q has images without pixels, %s", c.Name, shapeText(c))
	}
	m := image{height: c.Shape[0], width: c.Shape[1], channels: 1, depth: 8 * c.DType.Size()}
	switch {
	case len(c.Shape) == 3 && channels == "first":
		m = image{height: c.Shape[1], width: c.Shape[2], channels: c.Shape[0], depth: m.depth, planes: c.Shape[0] > 1}
	case len(c.Shape) == 3:
		m.channels = c.Shape[2]
	}
	if err := m.checkChannels(c, channels); err != nil {
		return image{}, err
	}
	if c.DType != idx.Uint8 && c.DType != idx.Int16 {
		return image{}, unsupported(adviceOther, "column %q is %s, expected uint8, or int16 without negative values", c.Name, c.DType)
	}
	if m.depth == 16 && m.channels > 1 {
		return image{}, unsupported(adviceOther, "column %q is %s with %d channels, expected uint8", c.Name, c.DType, m.channels)
	}
	if _, err := m.newEncoder(); err != nil {
		return image{}, unsupported(adviceOther, "column %q: %v", c.Name, err)
	}
	return m, nil
}

// checkChannels refuses numbers of channels that there are not. If they look right with the other order, the hint says so.
func (m image) checkChannels(c source.Column, channels string) error {
	if isChannels(m.channels) {
		return nil
	}
	here, advice := "last", adviceOther
	if channels == "first" {
		here = "first"
		if isChannels(c.Shape[2]) {
			advice = "--channels last, if the last dimension is the channels"
		}
	} else if isChannels(c.Shape[0]) {
		advice = "--channels first, if the first dimension is the channels"
	}
	return unsupported(advice, "column %q has records of %s: found %d channels, the %s dimension, expected 1, 3 or 4",
		c.Name, shapeText(c), m.channels, here)
}

func isChannels(n int) bool { return n == 1 || n == 3 || n == 4 }

// shapeText is the shape of c's records, which have at least two dimensions, as people say it: 28×28.
func shapeText(c source.Column) string {
	text := fmt.Sprint(c.Shape[0])
	for _, d := range c.Shape[1:] {
		text += fmt.Sprintf("×%d", d)
	}
	return text
}

func (m image) newEncoder() (*codec.Encoder, error) {
	return codec.NewEncoder(m.width, m.height, colors[m.channels], m.depth)
}

// size is the number of bytes of a record.
func (m image) size() int { return m.height * m.width * m.channels * m.depth / 8 }

// memory is about the number of bytes that a writer holds: scanlines, zlib stream, file, and pixels if they are interleaved.
func (m image) memory() int64 {
	copies := int64(3)
	if m.planes {
		copies++
	}
	return copies * int64(m.size())
}

// pixels returns the pixels of record i of data as the encoder wants them, in data or in scratch, and scratch for the next. It fails if a sample
// is negative.
func (m image) pixels(data []byte, i int, scratch []byte) ([]byte, []byte, error) {
	size := m.size()
	record := data[i*size : (i+1)*size]
	if m.depth == 16 {
		return record, scratch, checkNegative(record)
	}
	if !m.planes {
		return record, scratch, nil
	}
	scratch = source.Grow(scratch, size)
	interleave(scratch, record, m.channels)
	return scratch, scratch, nil
}

// checkNegative refuses negative samples, of 16 bits, little-endian.
func checkNegative(samples []byte) error {
	for i := 0; i+1 < len(samples); i += 2 {
		if v := int16(binary.LittleEndian.Uint16(samples[i:])); v < 0 {
			return fmt.Errorf("found the value %d, expected 0 to 32767", v)
		}
	}
	return nil
}

// interleave writes to dst the samples of each pixel together that src has in one plane for each channel.
func interleave(dst, src []byte, channels int) {
	plane := len(src) / channels
	for c := range channels {
		at := c
		for _, v := range src[c*plane : (c+1)*plane] {
			dst[at] = v
			at += channels
		}
	}
}
