package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// TestSelectFromDamage reads selections of files that are cut, longer or rewritten, before the
// selection is made or after its first rows were read. Every damage within reach is an error, and
// every row that comes before it is right.
func TestSelectFromDamage(t *testing.T) {
	t.Parallel()
	images, _ := writeNumbered(t, 1000)
	raw := must.Get(os.ReadFile(images))(t)
	selections := map[string]func() *Selection{
		"all rows":     func() *Selection { return all(1000) },
		"every third":  func() *Selection { return everyThird() },
		"all shuffled": func() *Selection { return shuffledRows(t, all(1000)) },
		"rest": func() *Selection {
			s := all(1000)
			s.HoldOut(300, nil, NewRandom(1, HoldOutStream))
			return s
		},
	}
	for form, data := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw), "zstd": zstandard(t, raw)} {
		damages := map[string][]byte{
			"half":        data[:len(data)/2],
			"without end": data[:len(data)-9],
			"longer":      append(bytes.Clone(data), "and more"...),
			"rewritten":   data,
		}
		for what, damaged := range damages {
			for name, selection := range selections {
				path := filepath.Join(t.TempDir(), "images")
				for _, late := range []bool{false, true} {
					must.Do(t, os.WriteFile(path, data, 0o666))
					file := must.Get(OpenIDX(path, Options{}))(t)
					s := selection()
					table := Select(file, s, nil)
					spoil := func() {
						if err := errors.Join(os.WriteFile(path, damaged, 0o666),
							os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))); err != nil {
							t.Fatal(err)
						}
					}
					if !late {
						spoil()
					}
					err := readSelected(t, table, selected(s), func() {
						if late {
							spoil()
						}
					})
					var e *fault.Error
					// all rows are read before the first is returned
					switch loaded := late && name == "all shuffled" && form != "plain"; {
					case loaded && err != nil:
						t.Errorf("%s, %s, %s, late: found %v, expected no error", form, what, name, err)
					case !loaded && (!errors.As(err, &e) || e.Path != path || !errors.Is(err, fault.Changed)):
						t.Errorf("%s, %s, %s, late %t: found %v, expected that %s has changed",
							form, what, name, late, err, path)
					}
					must.Do(t, table.Close())
				}
			}
		}
	}
}

func everyThird() *Selection {
	s := new(Selection)
	for row := range 1000 {
		s.Append(row%3 == 1)
	}
	return s
}

func shuffledRows(t *testing.T, s *Selection) *Selection {
	must.Do(t, s.Shuffle(NewRandom(1, ShuffleStream)))
	return s
}

// readSelected reads images of writeNumbered until an error, which it returns, or the end, for
// which it returns nil. It calls then after the first batch.
func readSelected(t *testing.T, table Table, expected []int64, then func()) error {
	t.Helper()
	at := 0
	b := &Raw{Cap: 7}
	for {
		err := table.Read(context.Background(), b)
		if err == io.EOF {
			if at != len(expected) {
				t.Errorf("found %d rows, expected %d", at, len(expected))
			}
			return nil
		}
		if err == nil {
			err = table.Decode(b)
		}
		if err != nil {
			return err
		}
		for i := range b.Rows {
			if n := int64(binary.LittleEndian.Uint32(b.Columns[0][i*64:])); n != 16*expected[at+i] {
				t.Fatalf("row %d begins with %d, expected %d", at+i, n, 16*expected[at+i])
			}
		}
		if at += b.Rows; at == b.Rows {
			then()
		}
	}
}

// TestCanceledSelections demands that no kind of table reads on for a canceled context.
func TestCanceledSelections(t *testing.T) {
	t.Parallel()
	images, labels := writeNumbered(t, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{images, labels} {
		for name, s := range map[string]*Selection{"every third": everyThird(),
			"shuffled": shuffledRows(t, all(1000))} {
			table := Select(open(t, path, Options{}), s, nil)
			if err := table.Read(ctx, &Raw{Cap: 7}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %s: found %v", name, filepath.Base(path), err)
			}
		}
	}
}

// spoiled is a table whose rows cannot be decoded.
type spoiled struct{ Table }

func (spoiled) Decode(*Raw) error { return fault.Malformed }

// TestSelectFromSpoiled demands the error of decoding of each way to choose rows.
func TestSelectFromSpoiled(t *testing.T) {
	t.Parallel()
	images, _ := writeNumbered(t, 1000)
	for name, s := range map[string]*Selection{"every third": everyThird(), "shuffled": shuffledRows(t, all(1000))} {
		table, b := Select(spoiled{open(t, images, Options{})}, s, nil), &Raw{Cap: 7}
		err := table.Read(t.Context(), b)
		if err == nil {
			err = table.Decode(b)
		}
		if !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}
