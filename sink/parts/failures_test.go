package parts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/parts"
)

// errBroken is what a failing splitter fails with.
var errBroken = errors.New("out of paper")

// A failing splitter fails at one place and writes nothing elsewhere.
type failing struct{ at string }

func (f failing) fails(at string) error {
	if f.at == at {
		return errBroken
	}
	return nil
}

func (f failing) Encode(context.Context, schema.Batch) (func() error, error) {
	return func() error { return f.fails("step") }, f.fails("encode")
}
func (f failing) Next(io.Writer) error { return f.fails("next") }
func (f failing) Held() int64          { return 0 }
func (f failing) Close() error         { return f.fails("close") }
func (failing) Notes() []string        { return []string{"made of nothing"} }

// Whatever fails in the format, in the first file or a later one, is told as it is, so that the publisher discards everything.
func TestFailuresOfTheFormat(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"open", "encode", "step", "next", "close", ""} {
		t.Run("at "+at, func(t *testing.T) {
			t.Parallel()
			s, batches := numbers(0, 10, 4)
			class, _ := newFolder(t)
			err := func() error {
				k, err := parts.New(class, s, parts.Options{Rows: 3, Stem: "part", Extension: ".x"}, func(io.Writer) (sink.Sink, error) {
					return failing{at}, failing{at}.fails("open")
				})
				if err != nil {
					return err
				}
				if notes := k.Notes(); len(notes) != 1 || k.BatchSize(10) != 0 {
					t.Errorf("found the notes %q and batches of %d bytes, expected those of the format", notes, k.BatchSize(10))
				}
				for _, b := range batches {
					step, err := k.Encode(t.Context(), b)
					if err != nil {
						return err
					}
					if err := step(); err != nil {
						return err
					}
				}
				return k.Close()
			}()
			if want := (failing{at}).fails(at); at != "" && !errors.Is(err, want) || at == "" && err != nil {
				t.Errorf("found %v, expected %v", err, want)
			}
		})
	}
}

// A folder in which a file is already takes no other of that name: the first file and the next ones.
func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	s, batches := numbers(0, 10, 10)
	for number := range 2 {
		class, _ := newFolder(t)
		taken, err := class.Create(fmt.Sprintf("part-%05d.csv", number))
		if err != nil {
			t.Fatal(err)
		}
		if err := taken.Close(); err != nil {
			t.Fatal(err)
		}
		k, err := parts.New(class, s, parts.Options{Rows: 3, Stem: "part", Extension: ".csv"}, func(w io.Writer) (sink.Sink, error) {
			return csv.New(w, s, csv.Options{Style: "matrix"})
		})
		if number == 1 && err == nil {
			var step func() error
			if step, err = k.Encode(t.Context(), batches[0]); err == nil {
				err = step()
			}
		}
		if err == nil {
			t.Errorf("file %d was written over another", number)
		}
	}
}

// A stream whose rows are not known before stops at the last number that a name can have.
func TestTooManyParts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	s, _ := numbers(0, 10, 10)
	s.Rows = -1
	class, _ := newFolder(t)
	k, err := parts.New(class, s, parts.Options{Rows: 1, Stem: "part", Extension: ".x"}, func(io.Writer) (sink.Sink, error) { return failing{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for row := range int64(parts.MaxParts + 1) {
		step, err := k.Encode(t.Context(), schema.Batch{First: row, Rows: 1, Columns: [][]byte{{1, 2, 3, 4}}})
		if err == nil {
			err = step()
		}
		if last := row == parts.MaxParts; last != errors.Is(err, fault.Usage) || !last && err != nil {
			t.Fatalf("row %d: found %v", row, err)
		}
	}
}
