package images

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/fault"
	codec "github.com/idxport/idxport/internal/png"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Rules say which records are images.
type Rules struct {
	Format string // the format or layout, for errors
	Advice string // hint for records that are no images
}

func (r Rules) refuse(advice, message string, args ...any) (Image, error) {
	return Image{}, Unsupported(r.Format, advice, message, args...)
}

// An Image describes how the records of a column become pixels, row by row from the top.
type Image struct {
	Height, Width int
	Channels      int        // 1, 3 (red, green, blue) or 4 (and alpha)
	Depth         int        // bits of a sample: 8, or 16 for one channel
	Planes        bool       // a record has one plane per channel
	MaxFile       int        // maximum bytes of a PNG file
	encoders      *sync.Pool // of *encoder
	column        string
	rules         Rules
}

// New returns how the records of c become pixels. The error is fault.Usage if they are not images
// by the rules r.
func New(r Rules, c source.Column) (Image, error) {
	if len(c.Shape) == 1 {
		return Image{}, flatError(r, c)
	}
	rows := Rows(c)
	if c.Elements() == 0 {
		return r.refuse("Parquet or Arrow keep such records in the layout list: idxport convert INPUT -o OUT.parquet",
			"column %q has images without pixels, %s", c.Name, text.Shape(c.Shape))
	} else if rows < 0 {
		return r.refuse(r.Advice, "column %q has records of %s, expected H×W, or H×W×C or C×H×W with 1, 3 or 4 "+
			"channels", c.Name, text.Shape(c.Shape))
	}
	m := Image{Height: c.Shape[rows], Width: c.Shape[rows+1], Depth: 8 * c.DType.Size(), Planes: Planes(c),
		column: c.Name, rules: r}
	m.Channels = c.Elements() / (m.Height * m.Width)
	switch {
	case c.DType == idx.Int32 && r.Advice == HintOther:
		r.Advice = "if its values fit, narrow them with --dtype uint8"
		fallthrough
	case c.DType != idx.Uint8 && c.DType != idx.Int16:
		return r.refuse(r.Advice, "column %q is %s, expected uint8, or int16 without negative values", c.Name, c.DType)
	case m.Depth == 16 && m.Channels > 1:
		return r.refuse(r.Advice, "column %q is %s with %d channels, expected uint8", c.Name, c.DType, m.Channels)
	}
	newPNG := func() (*codec.Encoder, error) { return codec.NewEncoder(m.Width, m.Height, m.Channels, m.Depth) }
	png, err := newPNG()
	if err != nil {
		return r.refuse(r.Advice, "column %q: %v", c.Name, err)
	}
	m.MaxFile = png.MaxSize()
	m.encoders = &sync.Pool{New: func() any { png, _ := newPNG(); return &encoder{png: png} }}
	return m, nil
}

// flatError returns the error for records of one dimension.
func flatError(r Rules, c source.Column) error {
	advice := r.Advice
	for n, channels := c.Elements(), 1; channels <= 3; channels += 2 {
		if side := int(math.Sqrt(float64(n / channels))); side > 1 && side*side*channels == n {
			advice = fmt.Sprintf("for square images: --shape %dx%d", side, side) + map[int]string{3: "x3"}[channels]
		}
	}
	if c.Name == "label" && r.Advice != HintOther {
		advice = schema.HintLabel
	}
	return Unsupported(r.Format, advice,
		"column %q has records of one dimension (%d elements), expected two or three dimensions", c.Name, c.Elements())
}

// Rows returns the dimension of records of c that has the rows of an image, before the columns, −1
// if they are no images: 1 if the first has the channels, as in PyTorch. If the last can be the
// channels, it is.
func Rows(c source.Column) int {
	switch n := len(c.Shape); {
	case n == 2 || n == 3 && codec.HasChannels(c.Shape[2]):
		return 0
	case n == 3 && codec.HasChannels(c.Shape[0]):
		return 1
	}
	return -1
}

// Planes reports whether records of c have several channels, each in a plane of its own.
func Planes(c source.Column) bool { return Rows(c) == 1 && c.Shape[0] > 1 }

// Size returns the number of bytes of a record.
func (m Image) Size() int { return m.Height * m.Width * m.Channels * m.Depth / 8 }

// An encoder makes the PNG files of the records of one column. It is not safe for concurrent use.
type encoder struct {
	png    *codec.Encoder
	pixels []byte // the record with interleaved channels, if the table has planes
}

// Memory returns about the number of bytes that an encoder and one file take: the scanlines, the
// zlib stream, the file, and the pixels if they must be interleaved.
func (m Image) Memory() int64 {
	copies := int64(3)
	if m.Planes {
		copies++
	}
	return copies * int64(m.Size())
}

// BadValue returns the error for a value in the given column and row that the format does not
// support: fault.Unsupported.
func BadValue(format, advice, column string, row int64, message string, args ...any) error {
	return fault.New(fault.Unsupported, format+": "+message, args...).InColumn(column).InRow(row).WithHint("%s", advice)
}

// Check returns an error for the first negative sample of data: fault.Unsupported. The first record
// in data is row first of the table.
func (m Image) Check(data []byte, first int64) error {
	for at := 1; m.Depth == 16 && at < len(data); at += 2 {
		if data[at]&0x80 != 0 { // the sign: in PNG, whose samples are unsigned, this one would be bright
			return BadValue(m.rules.Format, m.rules.Advice, m.column, first+int64(at/m.Size()),
				"found the value %d, expected 0 to %d", int16(binary.LittleEndian.Uint16(data[at-1:])), math.MaxInt16)
		}
	}
	return nil
}

// Append appends the PNG file of record i of data, which is the given row of the table. Its errors
// are those of Check. It is safe for concurrent use.
func (m Image) Append(dst, data []byte, i int, row int64) ([]byte, error) {
	size := m.Size()
	record := data[i*size : (i+1)*size]
	if err := m.Check(record, row); err != nil {
		return dst, err
	}
	e := m.encoders.Get().(*encoder)
	defer m.encoders.Put(e)
	if m.Planes {
		e.pixels = source.Grow(e.pixels, size)
		source.SwapAxes(e.pixels, record, m.Channels, size/m.Channels, 1)
		record = e.pixels
	}
	return e.png.Append(dst, record), nil
}

// HintOther is the hint for tables that PNG cannot hold.
const HintOther = "convert to Parquet, Arrow, CSV or npy instead"

// Unsupported returns the error for a table or an option that the format does not support:
// fault.Usage.
func Unsupported(format, advice, message string, args ...any) error {
	return fault.New(fault.Usage, format+": "+message, args...).WithHint("%s", advice)
}

// Columns are the columns of a table of images, by their indices in the schema.
type Columns struct {
	Image int
	Label int   // −1: none
	Rest  []int // all other columns, in order
}

// find chooses the image and label columns of s: see the package comment. format is the name of the
// sink, for errors.
func find(format string, s *schema.Schema) (Columns, error) {
	var images []int
	for i, c := range s.Columns {
		if len(c.Shape) >= 2 {
			images = append(images, i)
		}
	}
	if len(images) == 0 {
		if i := slices.IndexFunc(s.Columns, func(c source.Column) bool { return !c.Scalar() }); i >= 0 {
			return Columns{}, flatError(Rules{format, HintOther}, s.Columns[i])
		}
		return Columns{}, Unsupported(format, "add a file of images to the command, or choose a split that has some",
			"no column has images, expected records of two or three dimensions")
	}
	if len(images) > 1 {
		return Columns{}, Unsupported(format, "choose one of them, and its labels, with --columns",
			"found %d columns of images, %s, expected one", len(images), Names(s, images))
	}
	found := Columns{Image: images[0], Label: s.Label()}
	for i := range s.Columns {
		if i != found.Image && i != found.Label {
			found.Rest = append(found.Rest, i)
		}
	}
	return found, nil
}

// A Table is a table of images that become files, named after their rows.
type Table struct {
	Columns
	Pixels Image // of the image column
	// Digits is the number of digits of the source's last row, so that names do not depend on the
	// range of rows that is converted.
	Digits int
	rows   int64 // of the source

	buffers *sync.Pool // of *[]byte, for Encode
}

// NewTable returns how the schema s becomes files of a format that consists of PNG files. The error
// is fault.Usage if the number of rows is not known, or if s has no column of images.
func NewTable(format string, s *schema.Schema) (t Table, err error) {
	if s.SourceRows < 0 {
		return t, fault.New(fault.Usage, "%s: the number of rows is needed in advance, for the file names, "+
			"but it is known only at the end of this input", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
	t = Table{Digits: Digits(s.SourceRows - 1), rows: s.SourceRows,
		buffers: &sync.Pool{New: func() any { return new([]byte) }}}
	if t.Columns, err = find(format, s); err == nil {
		t.Pixels, err = New(Rules{format, HintOther}, s.Columns[t.Image])
	}
	return t, err
}

// Encode calls add for each row of b, to append what it becomes to a buffer. The step that it
// returns calls write with that.
func (t Table) Encode(ctx context.Context, b schema.Batch, add func(dst []byte, i int) ([]byte, error),
	write func([]byte) (int, error)) (step func() error, err error) {
	if last := b.First + int64(b.Rows) - 1; last >= t.rows {
		return nil, fmt.Errorf("%s: found row %d, expected %d rows", t.Pixels.rules.Format, last, t.rows)
	}
	buffer := t.buffers.Get().(*[]byte)
	*buffer = (*buffer)[:0]
	for i := range b.Rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if *buffer, err = add(*buffer, i); err != nil {
			return nil, err
		}
	}
	return func() error {
		defer t.buffers.Put(buffer)
		_, err := write(*buffer)
		return err
	}, nil
}

// Digits returns the number of decimal digits of n, 1 if n is negative.
func Digits(n int64) int { return len(strconv.FormatInt(max(n, 0), 10)) }

// AppendPadded appends n ≥ 0, padded with zeros to width digits.
func AppendPadded(dst []byte, n int64, width int) []byte {
	return fmt.Appendf(dst, "%0*d", width, n)
}

// Names lists the names of columns of s, quoted.
func Names(s *schema.Schema, indices []int) string {
	quoted := make([]string, len(indices))
	for i, column := range indices {
		quoted[i] = fmt.Sprintf("%q", s.Columns[column].Name)
	}
	return strings.Join(quoted, ", ")
}

// NewView is NewTable for a viewer, of the given name for errors: columns may have any data type,
// as it can scale the values, and Digits is not set.
func NewView(viewer string, s *schema.Schema) (t Table, err error) {
	if t.Columns, err = find(viewer, s); err != nil {
		return t, err
	}
	c := s.Columns[t.Image]
	c.DType = idx.Uint8 // for which all shapes are allowed
	const advice = "if they are images, give them rows and columns: --shape HEIGHTxWIDTH"
	t.Pixels, err = New(Rules{viewer, advice}, c)
	return t, err
}
