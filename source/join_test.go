package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// scalars returns a column of the n bytes 0, 1, 2, ….
func scalars(t *testing.T, name string, n int) *IDX {
	return fromBytes(t, name+".idx", file(t, idx.Uint8, []int{n}, bytesUpTo(n)), Options{Name: name})
}

// pairs returns a column of n records of two int16, and the records as they should be decoded.
func pairs(t *testing.T, name string, n int) (*IDX, []byte) {
	values := make([]int16, 2*n)
	for i := range values {
		values[i] = int16(i * 300)
	}
	return fromBytes(t, name+".idx", file(t, idx.Int16, []int{n, 2}, values), Options{Name: name}), little(t, values)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for _, shortest := range []bool{false, true} {
		for _, unknown := range []bool{false, true} {
			for _, batch := range []int{1, 3, 5, 100} {
				name := fmt.Sprintf("shortest %v, count unknown %v, %d at a time", shortest, unknown, batch)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					images, want := pairs(t, "image", 5)
					table := must.Get(Join(shortest, plain{images, unknown}, scalars(t, "label", 5),
						scalars(t, "other", 5)))(t)
					rows := int64(5)
					if unknown {
						rows = -1
					}
					if c := table.Columns(); table.Rows() != rows || len(c) != 3 || c[0].Name != "image" ||
						c[1].Name != "label" || c[2].Origin != "other.idx" {
						t.Errorf("found %d rows of %+v", table.Rows(), c)
					}
					check(t, table, batch, 0, want, bytesUpTo(5), bytesUpTo(5))
					if notes := About(table).Notes; len(notes) > 0 {
						t.Errorf("found notes %q, expected none", notes)
					}
				})
			}
		}
	}
}

func TestJoinOfDifferentLengths(t *testing.T) {
	t.Parallel()
	for _, lengths := range [][2]int{{5, 3}, {3, 5}, {6, 3}, {3, 0}, {0, 3}} {
		for _, unknown := range []bool{false, true} {
			for _, batch := range []int{1, 3, 100} {
				t.Run(fmt.Sprintf("%v, count unknown %v, %d at a time", lengths, unknown, batch), func(t *testing.T) {
					t.Parallel()
					least := min(lengths[0], lengths[1])
					join := func(shortest bool) (Table, error) {
						return Join(shortest, scalars(t, "image", lengths[0]),
							plain{scalars(t, "label", lengths[1]), unknown})
					}
					table, err := join(false)
					if err == nil {
						if !unknown {
							t.Error("known lengths were not compared at once")
						}
						_, err = readAll(table, batch)
					}
					if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "image (image.idx) has") ||
						!strings.Contains(err.Error(), "label (label.idx) has") {
						t.Errorf("found %v, expected the rows of both columns", err)
					}
					table = must.Get(join(true))(t)
					check(t, table, batch, 0, bytesUpTo(least), bytesUpTo(least))
				})
			}
		}
	}
}

func TestJoinShortestNotes(t *testing.T) {
	t.Parallel()
	table := must.Get(Join(true, scalars(t, "image", 5), scalars(t, "label", 3)))(t)
	if table.Rows() != 3 {
		t.Errorf("found %d rows, expected 3", table.Rows())
	}
	const want = "the columns have different numbers of records: image (image.idx) has 5, " +
		"label (label.idx) has 3; reading only 3 rows of each"
	if notes := About(table).Notes; len(notes) != 1 || notes[0] != want {
		t.Errorf("found %q, expected %q", notes, want)
	}
}

// Join returns the errors of its parts: from reading, decoding and closing.
func TestJoinPassesErrors(t *testing.T) {
	t.Parallel()
	with := func(other Table) Table { return must.Get(Join(false, scalars(t, "whole", 5), other))(t) }
	cut := func() Table {
		return fromBytes(t, "cut", file(t, idx.Uint8, []int{5}, bytesUpTo(3)), Options{Name: "cut"})
	}
	if _, err := readAll(with(cut()), 2); !errors.Is(err, fault.Truncated) {
		t.Errorf("reading: found %v, expected a truncated file", err)
	}
	if err := Skip(with(cut()), 4); !errors.Is(err, fault.Truncated) {
		t.Errorf("skipping: found %v, expected a truncated file", err)
	}
	labels := fromBytes(t, "labels", file(t, idx.Uint8, []int{5}, bytesUpTo(5)),
		Options{Name: "label", Classes: []string{"zero"}})
	if _, err := readAll(with(CheckedLabels(labels, false)), 2); !errors.Is(err, fault.Malformed) {
		t.Errorf("decoding: found %v, expected a label without a name", err)
	}
	broken := errors.New("handle lost")
	if err := with(closing{scalars(t, "b", 5), broken}).Close(); !errors.Is(err, broken) {
		t.Errorf("closing: found %v, expected the part's error", err)
	}
}

// closing is a table whose Close fails.
type closing struct {
	Table
	err error
}

func (c closing) Close() error { return c.err }
