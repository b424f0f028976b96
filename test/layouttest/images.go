package layouttest

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/sinktest"
)

// Names returns the names of all layouts.
func Names() (names []string) {
	for _, l := range layout.Layouts() {
		names = append(names, l.Name)
	}
	return names
}

// RunWriter calls sinktest.RunWriter with the tables that the layout can hold.
func RunWriter(t *testing.T, layoutName string, open Open) {
	t.Helper()
	tables := []sinktest.Table{sinktest.Numbers(), sinktest.Single(), sinktest.Empty(),
		sinktest.Images(), sinktest.Unlabelled(), sinktest.Named()}
	switch {
	case layoutName == "huggingface":
		tables = tables[3:5]
	case layoutName == "columns": // records of the other tables have no or too many elements
		tables = tables[:2]
	}
	sinktest.RunWriter(t, open, tables...)
}

// Refuses reports whether a layout of images must refuse one of t's columns: a tensor that is not
// an image of unsigned bytes with 1, 3 or 4 channels, last, or, for huggingface, a gray image of 16
// bits.
func (t Table) Refuses(layoutName string) bool {
	for _, c := range t.Columns {
		if c.Scalar() {
			continue
		}
		channels := 0
		switch len(c.Shape) {
		case 2:
			channels = 1
		case 3:
			channels = c.Shape[2]
		}
		dtype := c.DType == idx.Uint8 || c.DType == idx.Int16 && channels == 1 && layoutName == "huggingface"
		if !dtype || c.Elements() == 0 || channels != 1 && channels != 3 && channels != 4 {
			return true
		}
	}
	return false
}

// ClearSigns makes the values of 16-bit columns non-negative, as images require.
func (t Table) ClearSigns() {
	for i, c := range t.Columns {
		if c.DType == idx.Int16 {
			for k := 1; k < len(t.Data[i]); k += 2 {
				t.Data[i][k] &= 0x7f
			}
		}
	}
}

// Record returns row row of column i.
func (t Table) Record(i, row int) []byte {
	size := t.Columns[i].RecordSize()
	return t.Data[i][row*size : (row+1)*size]
}

// Decode returns the size and the samples of a PNG file, decoded by image/png. Samples of 16 bits
// are little-endian.
func Decode(tb testing.TB, file []byte) (size image.Point, samples []byte) {
	tb.Helper()
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		tb.Fatal(err)
	}
	switch img := img.(type) {
	case *image.Gray:
		samples = img.Pix
	case *image.NRGBA:
		samples = img.Pix
	case *image.RGBA: // RGB
		for i := 0; i < len(img.Pix); i += 4 {
			samples = append(samples, img.Pix[i:i+3]...)
		}
	case *image.Gray16: // big-endian
		for i := 0; i < len(img.Pix); i += 2 {
			samples = append(samples, img.Pix[i+1], img.Pix[i])
		}
	default:
		tb.Fatalf("found a %T", img)
	}
	return img.Bounds().Size(), samples
}
