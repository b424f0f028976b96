package source

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// selected returns the rows of s in their order.
func selected(s *Selection) (rows []int64) {
	if s.order != nil {
		return s.order
	}
	s.each(func(row int64) { rows = append(rows, row) })
	return rows
}

// all returns the selection of all rows of a table.
func all(rows int) *Selection {
	s := new(Selection)
	for range rows {
		s.Append(true)
	}
	return s
}

// TestSelectionsStay compares random selections with those of testdata/selection.py. They must
// never change: users rely on a seed.
func TestSelectionsStay(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("testdata/selection.json"))(t)
	var golden struct {
		First uint64
		Cases []struct {
			Seed                       uint64
			Rows                       int
			HoldOut                    int64 `json:"hold_out"`
			Held, Stratified, Shuffled []int64
		}
	}
	must.Do(t, json.Unmarshal(text, &golden))
	if first := NewRandom(7, 9).Uint64(); first != golden.First {
		t.Errorf("the first number is %d, expected %d", first, golden.First)
	}
	for _, c := range golden.Cases {
		rest := all(c.Rows)
		held := rest.HoldOut(c.HoldOut, nil, NewRandom(c.Seed, HoldOutStream))
		if !slices.Equal(selected(held), c.Held) {
			t.Errorf("seed %d, %d of %d rows: held out %v, expected %v",
				c.Seed, c.HoldOut, c.Rows, selected(held), c.Held)
		}
		if err := rest.Shuffle(NewRandom(c.Seed, ShuffleStream)); err != nil ||
			!slices.Equal(selected(rest), c.Shuffled) {
			t.Errorf("seed %d, %d of %d rows: the order is %v, expected %v, %v",
				c.Seed, c.HoldOut, c.Rows, selected(rest), c.Shuffled, err)
		}
		labels := []int{0, 1, 4, 2}[:min(4, c.Rows)] // row² mod 7, as they appear
		slices.Sort(labels)
		strata := make([]uint16, c.Rows)
		for row := range strata {
			strata[row] = uint16(slices.Index(labels, row*row%7))
		}
		rest = all(c.Rows)
		held = rest.HoldOut(c.HoldOut, strata, NewRandom(c.Seed, HoldOutStream))
		if !slices.Equal(selected(held), c.Stratified) {
			t.Errorf("seed %d, %d of %d rows, stratified: held out %v, expected %v",
				c.Seed, c.HoldOut, c.Rows, selected(held), c.Stratified)
		}
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n        int64
		counts   []int64
		expected []int64
	}{
		{0, []int64{3, 4}, []int64{0, 0}},
		{7, []int64{3, 4}, []int64{3, 4}},
		{1, []int64{5, 5}, []int64{1, 0}},             // a tie: the first
		{3, []int64{1, 0, 2, 3}, []int64{1, 0, 1, 1}}, // 0.5, 0, 1, 1.5: a tie again
		{10, []int64{1 << 40, 1 << 40}, []int64{5, 5}},
		{0, nil, nil},
	} {
		if got := quotas(test.n, test.counts); !slices.Equal(got, test.expected) {
			t.Errorf("quotas(%d, %v) = %v, expected %v", test.n, test.counts, got, test.expected)
		}
	}
}

// numbered is a table of two columns, n and 3·n, that is not an IDX file.
type numbered struct {
	rows, next int64
	closed     bool
}

func (t *numbered) Columns() []Column {
	return []Column{{Name: "n", DType: idx.Int32}, {Name: "thrice", DType: idx.Int32, Shape: []int{2}}}
}
func (t *numbered) Rows() int64  { return t.rows }
func (t *numbered) Close() error { t.closed = true; return nil }
func (t *numbered) Read(_ context.Context, b *Raw) error {
	b.First, b.Rows = t.next, int(min(int64(b.Cap), t.rows-t.next))
	t.next += int64(b.Rows)
	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

func (t *numbered) Decode(b *Raw) error {
	b.Columns = make([][]byte, 2)
	for i := range b.Rows {
		n := uint32(b.First) + uint32(i)
		b.Columns[0] = binary.LittleEndian.AppendUint32(b.Columns[0], n)
		b.Columns[1] = binary.LittleEndian.AppendUint32(b.Columns[1], 3*n)
		b.Columns[1] = binary.LittleEndian.AppendUint32(b.Columns[1], 3*n+1)
	}
	return nil
}

// writeNumbered writes two IDX files: images of 16 numbers, 16·row and so on, and labels row mod
// 251.
func writeNumbered(t *testing.T, rows int) (images, labels string) {
	t.Helper()
	dir := t.TempDir()
	images, labels = filepath.Join(dir, "images"), filepath.Join(dir, "labels")
	a := []byte{0, 0, 0x0c, 3, 0, 0, byte(rows >> 8), byte(rows), 0, 0, 0, 4, 0, 0, 0, 4}
	b := []byte{0, 0, 8, 1, 0, 0, byte(rows >> 8), byte(rows)}
	for row := range rows {
		for i := range 16 {
			a = binary.BigEndian.AppendUint32(a, uint32(16*row+i))
		}
		b = append(b, byte(row%251))
	}
	for path, data := range map[string][]byte{images: a, labels: b} {
		must.Do(t, os.WriteFile(path, data, 0o666))
	}
	return images, labels
}

// TestSelect reads random selections of three kinds of tables, and compares every value.
func TestSelect(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	images, labels := writeNumbered(t, 1000)
	open := func(path string) Table {
		file := must.Get(OpenIDX(path, Options{Name: filepath.Base(path)}))(t)
		return file
	}
	for round := range 1000 {
		rows := random.IntN(1001)
		s := new(Selection)
		density := random.IntN(101)
		for range rows {
			s.Append(random.IntN(100) < density)
		}
		if random.IntN(2) == 0 {
			must.Do(t, s.Shuffle(NewRandom(uint64(round), ShuffleStream)))
		}
		expected := selected(s)
		if random.IntN(3) == 0 {
			first := random.Int64N(s.Len() + 1)
			last := first + random.Int64N(s.Len()-first+1)
			s, expected = s.Part(first, last), expected[first:last]
		}
		var table Table = &numbered{rows: int64(rows)}
		files := rows == 1000 || round%5 == 0
		if files {
			for range 1000 - rows { // the file has 1,000
				s.Append(false)
			}
			joined := must.Get(Join(false, open(images), open(labels)))(t)
			table = joined
			if random.IntN(2) == 0 {
				table = WithColumns(joined, joined.Columns())
			}
		}
		table = Select(table, s, nil) // nothing is large
		if table.Rows() != int64(len(expected)) || About(table).SourceRows != s.TableRows && files {
			t.Fatalf("round %d: %d of %d rows, expected %d of %d",
				round, table.Rows(), About(table).SourceRows, len(expected), s.TableRows)
		}
		checkSelected(t, table, s.First, expected, 1+random.IntN(200))
		must.Do(t, table.Close())
	}
}

// TestScratch shuffles a table in a scratch file.
func TestScratch(t *testing.T) {
	t.Parallel()
	s := all(300)
	must.Do(t, s.Shuffle(NewRandom(0, ShuffleStream)))
	var file *os.File
	table := &shuffled{chosen: chosen{Table: &numbered{rows: 300}, s: s}, scratch: func() (f *os.File, err error) {
		file, err = os.CreateTemp(t.TempDir(), "")
		return file, err
	}}
	checkSelected(t, table, 0, selected(s), 64)
	if err := errors.Join(file.Truncate(0), table.Decode(&Raw{State: []int64{0}})); !errors.Is(err, fault.IO) {
		t.Errorf("a scratch file without its end: found %v, expected fault.IO", err)
	}
	must.Do(t, table.Close())
	if file == nil || file.Close() == nil {
		t.Error("the scratch file was not used, or not closed")
	}
	table = &shuffled{chosen: chosen{Table: &numbered{rows: 300}, s: s}, scratch: func() (*os.File, error) {
		return os.Open(os.DevNull)
	}}
	if err := table.Read(context.Background(), &Raw{Cap: 1}); !strings.Contains(fault.HintOf(err), "TMPDIR") {
		t.Errorf("a scratch file that cannot be written: found %v, expected a hint", err)
	}
}

// checkSelected reads table in batches of up to limit rows, and compares its rows, the first of
// which has the index first.
func checkSelected(t *testing.T, table Table, first int64, expected []int64, limit int) {
	t.Helper()
	b := &Raw{Cap: limit}
	at := 0
	for {
		err := table.Read(context.Background(), b)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = table.Decode(b)
		}
		must.Do(t, err)
		if full := b.Rows == min(limit, len(expected)-at); !full || b.First != first+int64(at) {
			t.Fatalf("%d rows from %d on, expected %d from %d on",
				b.Rows, b.First, min(limit, len(expected)-at), first+int64(at))
		}
		for i := range b.Rows {
			row := expected[at+i]
			head := int64(binary.LittleEndian.Uint32(b.Columns[0][i*table.Columns()[0].RecordSize():]))
			tail := b.Columns[1][i*table.Columns()[1].RecordSize():]
			if table.Columns()[0].Scalar() {
				if head != row || int64(binary.LittleEndian.Uint32(tail[4:])) != 3*row+1 {
					t.Fatalf("row %d is %d, expected %d", at+i, head, row)
				}
			} else if head != 16*row || int64(tail[0]) != row%251 {
				t.Fatalf("row %d begins with %d and has the label %d, expected %d and %d",
					at+i, head, tail[0], 16*row, row%251)
			}
		}
		at += b.Rows
	}
	if at != len(expected) {
		t.Fatalf("%d rows, expected %d", at, len(expected))
	}
}
