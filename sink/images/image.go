package images

import (
	"fmt"

	codec "github.com/idxport/idxport/png"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// An Image says how the records of a column become pixels.
type Image struct {
	format        string // the sink, in errors
	height, width int
	channels      int // 1, 3 or 4
	depth         int // bits of a sample: 8, or 16 for one channel
	planes        bool
}

// New decides what images the records of c are, which have at least two dimensions. channels says which dimension of three are the channels: "last",
// which empty means too, or "first". format names the sink in errors.
func New(format string, c source.Column, channels string) (Image, error) {
	if channels != "" && channels != "last" && channels != "first" {
		return Image{}, Unsupported(format, "", "found channels %q, expected first or last", channels)
	}
	if len(c.Shape) > 3 {
		return Image{}, Unsupported(format, AdviceOther, "column %q has records of %d dimensions, expected two or three", c.Name, len(c.Shape))
	}
	if c.Elements() == 0 {
		return Image{}, Unsupported(format, "convert to Parquet or Arrow instead, which keep empty records",
			"column %q has images without pixels, %s", c.Name, shapeText(c))
	}
	m := Image{format: format, height: c.Shape[0], width: c.Shape[1], channels: 1, depth: 8 * c.DType.Size()}
	switch {
	case len(c.Shape) == 3 && channels == "first":
		m = Image{format: format, height: c.Shape[1], width: c.Shape[2], channels: c.Shape[0], depth: m.depth, planes: c.Shape[0] > 1}
	case len(c.Shape) == 3:
		m.channels = c.Shape[2]
	}
	if err := m.checkChannels(c, channels); err != nil {
		return Image{}, err
	}
	if c.DType != idx.Uint8 && c.DType != idx.Int16 {
		return Image{}, Unsupported(format, AdviceOther, "column %q is %s, expected uint8, or int16 without negative values", c.Name, c.DType)
	}
	if m.depth == 16 && m.channels > 1 {
		return Image{}, Unsupported(format, AdviceOther, "column %q is %s with %d channels, expected uint8", c.Name, c.DType, m.channels)
	}
	if _, err := m.newPNG(); err != nil {
		return Image{}, Unsupported(format, AdviceOther, "column %q: %v", c.Name, err)
	}
	return m, nil
}

// checkChannels refuses numbers of channels that there are not. If they look right with the other order, the hint says so.
func (m Image) checkChannels(c source.Column, channels string) error {
	if isChannels(m.channels) {
		return nil
	}
	here, advice := "last", AdviceOther
	if channels == "first" {
		here = "first"
		if isChannels(c.Shape[2]) {
			advice = "--channels last, if the last dimension is the channels"
		}
	} else if isChannels(c.Shape[0]) {
		advice = "--channels first, if the first dimension is the channels"
	}
	return Unsupported(m.format, advice, "column %q has records of %s: found %d channels, the %s dimension, expected 1, 3 or 4",
		c.Name, shapeText(c), m.channels, here)
}

// isChannels tells whether pixels can have n channels.
func isChannels(n int) bool {
	_, ok := codec.ColorOf(n)
	return ok
}

// shapeText is the shape of c's records, which have at least two dimensions, as people say it: 28×28.
func shapeText(c source.Column) string {
	text := fmt.Sprint(c.Shape[0])
	for _, d := range c.Shape[1:] {
		text += fmt.Sprintf("×%d", d)
	}
	return text
}

func (m Image) newPNG() (*codec.Encoder, error) {
	color, _ := codec.ColorOf(m.channels) // checkChannels has seen them
	return codec.NewEncoder(m.width, m.height, color, m.depth)
}

// size is the number of bytes of a record.
func (m Image) size() int { return m.height * m.width * m.channels * m.depth / 8 }
