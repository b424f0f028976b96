package csv

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
)

// referenceValue returns the text of one element.
func referenceValue(d idx.DType, b []byte) string {
	switch d {
	case idx.Uint8:
		return fmt.Sprint(b[0])
	case idx.Int8:
		return fmt.Sprint(int8(b[0]))
	case idx.Int16:
		return fmt.Sprint(int16(binary.LittleEndian.Uint16(b)))
	case idx.Int32:
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(b)))
	default:
		return referenceFloat(b)
	}
}

// referenceFloat returns strconv's shortest text of the float in src, which has 4 or 8 bytes,
// changed so that it does not look like an integer.
func referenceFloat(src []byte) string {
	v, bitSize := 0.0, 8*len(src)
	if bitSize == 32 {
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
	} else {
		v = math.Float64frombits(binary.LittleEndian.Uint64(src))
	}
	text := strconv.FormatFloat(v, 'g', -1, bitSize)
	if bitSize == 32 && math.Abs(v) == 1.0/4096 { // 0.000244140625, see floatText.appendFloat
		text = strings.Replace(text, "0.00024414063", "0.00024414062", 1)
	}
	switch text {
	case "NaN":
		return text
	case "+Inf":
		return "inf"
	case "-Inf":
		return "-inf"
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		text += ".0"
	}
	return text
}

// with returns a function that opens sinks with the options o.
func with(o sink.Options) layouttest.Open {
	return func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return New(w, s, o) }
}

// convert writes a whole table in batches of batchRows rows.
func convert(t *testing.T, s *schema.Schema, columns [][]byte, open layouttest.Open, batchRows int) string {
	t.Helper()
	table := layouttest.Table{Columns: s.Columns, Rows: int(s.Rows), Data: columns}
	return string(table.Write(t, open, s, batchRows))
}

// randomTable returns a table of random bits, with many zeros.
func randomTable(rows int, columns ...source.Column) (*schema.Schema, [][]byte) {
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	data := make([][]byte, len(columns))
	for i, c := range columns {
		data[i] = make([]byte, 0, rows*c.RecordSize()+8)
		for len(data[i]) < rows*c.RecordSize() {
			bits := random.Uint64() >> random.Uint64N(64) // of random magnitude
			if random.Uint64N(3) == 0 {
				bits = 0
			}
			data[i] = binary.LittleEndian.AppendUint64(data[i], bits)
		}
		data[i] = data[i][:rows*c.RecordSize()]
	}
	return &schema.Schema{Columns: columns, Rows: int64(rows)}, data
}

// column returns a column for a test.
func column(name string, d idx.DType, shape ...int) source.Column {
	return source.Column{Name: name, DType: d, Shape: shape}
}

// bytesOf returns values as little-endian bytes.
func bytesOf(t *testing.T, values any) []byte {
	t.Helper()
	return must.Get(binary.Append(nil, binary.LittleEndian, values))(t)
}
