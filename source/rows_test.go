package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

func TestSlice(t *testing.T) {
	t.Parallel()
	for _, r := range [][2]int64{{0, 10}, {0, 0}, {10, 10}, {0, 1}, {9, 10}, {3, 7}, {4, 5}, {5, 5}} {
		for _, hidden := range []bool{false, true} {
			for _, batch := range []int{1, 2, 4, 100} {
				t.Run(fmt.Sprintf("%d:%d, by reading %v, %d at a time", r[0], r[1], hidden, batch), func(t *testing.T) {
					t.Parallel()
					in, all := pairs(t, "pair", 10)
					inner := Table(in)
					if hidden {
						inner = plain{in, true}
					}
					table := must.Get(Slice(inner, r[0], r[1]))(t)
					if table.Rows() != r[1]-r[0] {
						t.Errorf("found %d rows, expected %d", table.Rows(), r[1]-r[0])
					}
					if rows := About(table).SourceRows; rows != inner.Rows() {
						t.Errorf("found a source of %d rows, expected %d", rows, inner.Rows())
					}
					check(t, table, batch, r[0], all[4*r[0]:4*r[1]])
				})
			}
		}
	}
}

func TestSliceRefusesRowsThatAreNotThere(t *testing.T) {
	t.Parallel()
	for _, r := range [][2]int64{{-1, 3}, {4, 3}, {0, 11}, {11, 12}} {
		if _, err := Slice(scalars(t, "label", 10), r[0], r[1]); !errors.Is(err, fault.Usage) {
			t.Errorf("%v: found %v, expected fault.Usage", r, err)
		}
	}
	for _, batch := range []int{1, 4, 100} {
		table := must.Get(Slice(plain{scalars(t, "label", 10), true}, 8, 12))(t)
		if c, err := readAll(table, batch); !errors.Is(err, fault.Usage) || errors.Is(err, io.EOF) || c.rows > 2 {
			t.Errorf("found %d rows, %v, expected at most 2, then fault.Usage", c.rows, err)
		}
	}
}

// Rows after the slice are not read, so damage there is no error; damage before it is one only
// if it must be read.
func TestSliceDoesNotCheckTheRest(t *testing.T) {
	t.Parallel()
	cut := func() Table {
		return fromBytes(t, "cut", file(t, idx.Uint8, []int{10}, bytesUpTo(6)), Options{Name: "x"})
	}
	check(t, must.Get(Slice(cut(), 2, 5))(t), 2, 2, []byte{2, 3, 4})
	if _, err := readAll(must.Get(Slice(cut(), 7, 9))(t), 2); !errors.Is(err, fault.Truncated) {
		t.Errorf("found %v, expected a truncated file", err)
	}
}

// A limited file remembers where reading will end, as an object in a bucket does.
type limited struct {
	File
	end *int64
}

func (l limited) Limit(end int64) { *l.end = end }

type limitedFiles struct {
	Local
	end *int64
}

func (l limitedFiles) Open(name string) (File, error) {
	f, err := l.Local.Open(name)
	return limited{f, l.end}, err
}

// TestSliceLimitsReading: files do not fetch what is beyond the slice.
func TestSliceLimitsReading(t *testing.T) {
	t.Parallel()
	var end int64
	path := write(t, "images", file(t, idx.Uint8, []int{5, 2, 2}, bytesUpTo(20)))
	images := open(t, path, Options{Name: "image", Files: limitedFiles{end: &end}})
	both := must.Get(Join(false, images, second(t)))(t)
	must.Get(Slice(WithColumns(both, both.Columns()), 1, 3))(t)
	if end != 16+3*4 {
		t.Errorf("found the end %d, expected that of row 2, %d", end, 16+3*4)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	images, want := pairs(t, "image", 10)
	again, _ := pairs(t, "image", 10)
	for _, table := range []Table{images, plain{Table: again}} {
		must.Do(t, errors.Join(Skip(table, 0), Skip(table, 7)))
		check(t, table, 2, 7, want[4*7:])
	}
	if err := Skip(plain{Table: scalars(t, "label", 3)}, 4); err == nil {
		t.Error("4 of 3 rows were skipped")
	}
	if err := Skip(scalars(t, "label", 3), 4); err == nil || !strings.HasPrefix(err.Error(), "label.idx: ") {
		t.Errorf("found %v, expected an error with the path", err)
	}
}

// A wideRows has rows of 512 KiB, and the largest number of them that was asked for at once.
type wideRows struct {
	Table
	most int
}

func (w *wideRows) Columns() []Column { return []Column{{DType: idx.Uint8, Shape: []int{512 << 10}}} }

func (w *wideRows) Read(_ context.Context, b *Raw) error {
	b.Rows, w.most = b.Cap, max(w.most, b.Cap)
	return nil
}

// TestSkipLargeRows skips rows that together are much larger than the memory it may use.
func TestSkipLargeRows(t *testing.T) {
	t.Parallel()
	table := new(wideRows)
	if err := Skip(table, 64); err != nil || table.most > 2 {
		t.Errorf("found %d rows that were read at once, error %v, expected about 1 MiB", table.most, err)
	}
}
