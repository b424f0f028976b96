package layout

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/idxport/idxport/png"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A picture says how the records of a column are pixels: row by row from the top, the samples of a pixel together.
type picture struct {
	height, width int
	channels      int // 1, 3 (red, green, blue) or 4 (and alpha)
	depth         int // bits of a sample
}

// adviceOther is the way out for what is no picture.
const adviceOther = "use --layout list, which holds every type and shape"

// refuse is the error of a layout that cannot hold a column.
func refuse(layout, advice, message string, values ...any) error {
	return &sink.Error{Format: "layout " + layout, Message: fmt.Sprintf(message, values...), Advice: advice, Err: sink.ErrUnsupported}
}

// newPicture decides what pictures the records of c are: those of H×W, or of H×W×1, H×W×3 or H×W×4, of the data types that the layout takes.
func newPicture(layout string, c source.Column, dtypes ...idx.DType) (picture, error) {
	if !slices.Contains(dtypes, c.DType) {
		return picture{}, refuse(layout, adviceOther, "column %q is %s, expected %s", c.Name, c.DType, alternatives(dtypes))
	}
	if len(c.Shape) < 2 || len(c.Shape) > 3 {
		return picture{}, refuse(layout, adviceOther, "column %q has records of shape %v, expected images of [height width] or [height width channels]",
			c.Name, c.Shape)
	}
	if c.Elements() == 0 {
		return picture{}, refuse(layout, adviceOther, "column %q has images without pixels, of shape %v", c.Name, c.Shape)
	}
	p := picture{height: c.Shape[0], width: c.Shape[1], channels: 1, depth: 8 * c.DType.Size()}
	if len(c.Shape) == 3 {
		p.channels = c.Shape[2]
	}
	if !isChannels(p.channels) {
		advice := adviceOther
		if isChannels(c.Shape[0]) {
			advice = "this layout takes channels in the last dimension only; " + adviceOther + ", or -o png=DIR --channels first"
		}
		return picture{}, refuse(layout, advice, "column %q has records of shape %v: found %d channels, the last dimension, expected 1, 3 or 4",
			c.Name, c.Shape, p.channels)
	}
	if p.depth > 8 && p.channels > 1 {
		return picture{}, refuse(layout, adviceOther, "column %q is %s with %d channels, expected uint8", c.Name, c.DType, p.channels)
	}
	return p, nil
}

// alternatives lists dtypes: "uint8 or int16".
func alternatives(dtypes []idx.DType) string {
	text := dtypes[0].String()
	for _, d := range dtypes[1:] {
		text += " or " + d.String()
	}
	return text
}

// isChannels tells whether pixels can have n channels.
func isChannels(n int) bool {
	_, ok := png.ColorOf(n)
	return ok
}

// size is the number of bytes of a record.
func (p picture) size() int { return p.height * p.width * p.channels * p.depth / 8 }

// checkNegative refuses negative samples of 16 bits in data, the records of c from row first on.
func (p picture) checkNegative(layout string, c source.Column, data []byte, first int64) error {
	at := png.FirstNegative(data)
	if at < 0 {
		return nil
	}
	return refuse(layout, adviceOther, "column %q, row %d: found the value %d, expected 0 to %d",
		c.Name, first+int64(2*at/p.size()), int16(binary.LittleEndian.Uint16(data[2*at:])), math.MaxInt16)
}
