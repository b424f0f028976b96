package compare

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// memory is a table in memory.
type memory struct {
	columns []source.Column
	data    [][]byte
	rows    int
	hidden  bool // whether Rows returns −1
	next    int
}

func (m *memory) Columns() []source.Column { return m.columns }
func (m *memory) Close() error             { return nil }
func (m *memory) Decode(*source.Raw) error { return nil }
func (m *memory) Rows() int64 {
	if m.hidden {
		return -1
	}
	return int64(m.rows)
}

func (m *memory) Read(_ context.Context, b *source.Raw) error {
	b.First, b.Rows = int64(m.next), min(b.Cap, m.rows-m.next)
	if b.Rows == 0 {
		return io.EOF
	}
	b.Columns = nil
	for i, c := range m.columns {
		size := c.RecordSize()
		b.Columns = append(b.Columns, m.data[i][m.next*size:(m.next+b.Rows)*size])
	}
	m.next += b.Rows
	return nil
}

// table returns a table with images of 300×300 bytes, so that a batch has eight rows, and labels.
func table(rows int, hidden bool) *memory {
	m := &memory{rows: rows, hidden: hidden, columns: []source.Column{
		{Name: "image", DType: idx.Uint8, Shape: []int{300, 300}}, {Name: "label", DType: idx.Uint8}}}
	m.data = [][]byte{make([]byte, rows*90_000), make([]byte, rows)}
	for i := range m.data[0] {
		m.data[0][i] = byte(i * 7)
	}
	return m
}

// run compares two tables, column by column.
func run(t *testing.T, expected, found *memory, nan bool) (*Sink, error) {
	t.Helper()
	both, err := NewPair(expected, found, false, false)
	if err != nil {
		return nil, err
	}
	described := schema.Of(both)
	k := New(described, nan)
	_, err = pipeline.Run(t.Context(), both, described, []sink.Sink{k}, pipeline.Options{Workers: 4})
	return k, errors.Join(err, both.Lengths)
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 8, 50} {
		k := must.Get(run(t, table(rows, false), table(rows, true), false))(t)
		if k.Values != 0 || k.Rows != 0 || k.List != nil {
			t.Errorf("%d rows: found %d differences in %d rows, %v", rows, k.Values, k.Rows, k.List)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	expected, found := table(50, false), table(50, false)
	found.columns[1].DType = idx.Int8 // so that equal bytes may be different numbers
	expected.data[1][40], found.data[1][40] = 200, 200
	found.data[1][30] = 9
	found.data[0][20*90_000+301] ^= 1
	found.data[0][20*90_000+400] ^= 1
	found.data[0][49*90_000] ^= 1
	k := must.Get(run(t, expected, found, false))(t)
	if k.Values != 5 || k.Rows != 4 || len(k.List) != 4 {
		t.Fatalf("found %d values in %d rows, %v, expected 5 in 4", k.Values, k.Rows, k.List)
	}
	// 20·90000+301 = 1800301, times 7 modulo 256 is 251; 49·90000 gives 240
	for i, want := range []string{"row 20, column image, at [1 1]: found 250, expected 251",
		"row 30, column label: found 9, expected 0", "row 40, column label: found -56, expected 200",
		"row 49, column image, at [0 0]: found 241, expected 240"} {
		if got := k.List[i].String(); got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		expected, found int
		hidden          bool
		want            string
	}{
		{50, 49, false, "found 49 rows, expected 50"},
		{50, 49, true, "found 49 rows, expected 50"},
		{50, 48, true, "found 48 rows, expected 50"}, // at the end of a batch
		{50, 51, true, "found more than the expected 50 rows"},
		{48, 49, true, "found more than the expected 48 rows"},
	} {
		_, err := run(t, table(test.expected, false), table(test.found, test.hidden), false)
		if !errors.Is(err, fault.Differs) || err.Error() != test.want {
			t.Errorf("%+v: found %v", test, err)
		}
	}
}

// TestCountsAndDifferences checks that different numbers of rows hide no difference in the rows
// that both tables have.
func TestCountsAndDifferences(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ expected, found, rows int }{{5, 4, 1}, {4, 5, 1}, {50, 48, 2}, {48, 50, 2},
		{50, 49, 2}, {49, 50, 2}, {50, 20, 2}} {
		for range 5 {
			found := table(test.found, true)
			found.data[1][3] ^= 1
			last := min(test.expected, test.found) - 1
			found.data[0][last*90_000] ^= 1
			k, err := run(t, table(test.expected, false), found, false)
			if !errors.Is(err, fault.Differs) {
				t.Errorf("%+v: found %v", test, err)
			} else if k.Values != 2 || int(k.Rows) != test.rows || len(k.List) != test.rows || k.List[0].Row != 3 {
				t.Errorf("%+v: found %d values in %d rows, %v, expected 2", test, k.Values, k.Rows, k.List)
			}
		}
	}
}

// TestCountsOfEmptyRecords checks that rows without bytes are counted too.
func TestCountsOfEmptyRecords(t *testing.T) {
	t.Parallel()
	empty := func(rows int) *memory {
		return &memory{rows: rows, hidden: true,
			columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{0}}}, data: [][]byte{nil}}
	}
	for _, test := range []struct {
		expected, found int
		want            string
	}{{3, 3, ""}, {3, 2, "found 2 rows, expected more"}, {0, 3, "found more than the expected 0 rows"}} {
		_, err := run(t, empty(test.expected), empty(test.found), false)
		if err == nil && test.want == "" {
			continue
		}
		if !errors.Is(err, fault.Differs) || err.Error() != test.want {
			t.Errorf("%+v: found %v, expected %q", test, err, test.want)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	bits := func(x uint32) value { return value{idx.Float32, binary.LittleEndian.AppendUint32(nil, x)} }
	float := func(x float32) value { return bits(math.Float32bits(x)) }
	double := func(x float64) value {
		return value{idx.Float64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))}
	}
	whole := func(d idx.DType, x int64) value {
		v := value{d, make([]byte, d.Size())}
		source.Put(v.data, d, x)
		return v
	}
	negativeZero := math.Copysign(0, -1)
	payload := bits(0x7fc12345)
	if got := payload.String(); got != "NaN (0x7fc12345)" {
		t.Errorf("found %s", got)
	}
	for _, test := range []struct {
		expected, found value
		exact, nan      bool // whether they are equal by default, and with nansEqual
	}{
		{whole(idx.Uint8, 255), whole(idx.Int32, 255), true, true},
		{whole(idx.Int8, -1), whole(idx.Int16, -1), true, true},
		{whole(idx.Uint8, 255), whole(idx.Int8, -1), false, false},
		{whole(idx.Uint8, 5), double(5), true, true},
		{whole(idx.Int32, math.MaxInt32), double(math.MaxInt32), true, true},
		{whole(idx.Int32, 7), double(7.5), false, false},
		{float(0.1), double(0.1), true, true},
		{float(0.1), double(0.1000001), false, false},
		{float(0.1), double(float64(float32(0.1))), true, true},
		{float(0.1), double(0.10000000000001), false, true},
		{float(0), double(negativeZero), false, false},
		{double(0), double(negativeZero), false, false},
		{float(0.1), float(0.1), true, true},
		{payload, float(float32(math.NaN())), false, true},
		{payload, double(math.Float64frombits(0x7ff8000000000123)), true, true},
		{payload, payload, true, true},
		{payload, float(1), false, false},
		{float(1), payload, false, false},
		{double(0.1), float(0.1), false, false},
		{double(0.5), float(0.5), true, true},
		{float(float32(math.Inf(1))), double(math.Inf(1)), true, true},
		{float(1), double(math.MaxFloat64), false, false},
	} {
		for anyNaN, want := range map[bool]bool{false: test.exact, true: test.nan} {
			if e, f := test.expected, test.found; e.equals(f, anyNaN) != want {
				t.Errorf("%v %v, %v %v, any NaN %v: expected %v", e.dtype, e, f.dtype, f, anyNaN, want)
			}
		}
	}
}

// A record that is stored as a list has no shape of its own: it matches any shape with as many
// elements. Two shapes must be equal, but for dimensions of 1.
func TestShapes(t *testing.T) {
	t.Parallel()
	of := func(shape ...int) *memory {
		return &memory{columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: shape}}}
	}
	for _, c := range []struct {
		expected, found []int
		ok              bool
	}{
		{[]int{2, 3}, []int{2, 3}, true},
		{[]int{2, 3}, []int{6}, true},
		{[]int{6}, []int{2, 3}, true},
		{[]int{6}, []int{6}, true},
		{[]int{2, 3, 1}, []int{2, 3}, true}, // as Keras has grey images, and as PNG has them
		{[]int{1, 2, 3}, []int{2, 3}, true},
		{[]int{2, 3}, []int{3, 2}, false},
		{[]int{2, 3, 1}, []int{3, 2}, false},
		{[]int{2, 3}, []int{5}, false},
		{[]int{5}, []int{2, 3}, false},
	} {
		_, err := NewPair(of(c.expected...), of(c.found...), false, false)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, fault.Differs) {
			t.Errorf("%v and %v: found %v, expected a match: %v", c.expected, c.found, err, c.ok)
		}
	}
}
