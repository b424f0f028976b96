package idx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/must"
)

// A salvage with other dimensions must not mistake the header's count for the number of reshaped
// records.
func TestSalvageReshapeOfIntactFile(t *testing.T) {
	t.Parallel()
	all := values(t, Uint8, 24)
	for name, test := range map[string]struct {
		dims, to []int
		records  int64
	}{
		"larger records":  {[]int{24}, []int{-1, 6}, 4},
		"smaller records": {[]int{2, 2, 6}, []int{-1, 6}, 4},
		"scalars":         {[]int{4, 6}, []int{-1}, 24},
	} {
		file := encode(t, binary.BigEndian, Uint8, test.dims, all)
		for _, size := range []int64{0, int64(len(file))} {
			rd := must.Get(NewReader(bytes.NewReader(file), Options{Salvage: true, Size: size, Reshape: test.to}))(t)
			data, records, err := drain(rd, 3)
			if err != nil || int64(records) != test.records || !bytes.Equal(data, all.([]byte)) || len(rd.Notes()) > 0 {
				t.Errorf("%s, size %d: found %d records, %v, notes %q, expected %d and none", name, size, records, err, rd.Notes(), test.records)
			}
		}
	}
}

func TestReshapeErrorsAreUsageErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dims, to []int
		salvage  bool
	}{
		"too large beside zero":   {[]int{0}, []int{0, math.MaxInt32, math.MaxInt32, math.MaxInt32}, false},
		"negative, salvage":       {[]int{4, 6}, []int{-1, -2}, true},
		"negative beside 0":       {[]int{4, 6}, []int{-1, -2, 0}, true},
		"open beside 0, salvage":  {[]int{4, 6}, []int{-1, 0}, true},
		"open beside 2^31 and 0":  {[]int{4, 6}, []int{-1, math.MaxInt32, 0}, true},
		"product of 2^64 salvage": {[]int{4, 6}, []int{-1, 1 << 30, 1 << 30, 16}, true},
	} {
		file := encode(t, binary.BigEndian, Uint8, test.dims, make([]byte, elements(test.dims)))
		if _, err := NewReader(bytes.NewReader(file), Options{Reshape: test.to, Salvage: test.salvage}); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found %v, expected wrong usage", name, err)
		}
	}
}

func TestErrorsAreRepeated(t *testing.T) {
	t.Parallel()
	broken := errors.New("flaky")
	file := images(t, 4, 4)
	flaky := io.MultiReader(bytes.NewReader(file[:20]), &once{err: broken}, bytes.NewReader(file[20:]))
	for name, in := range map[string]io.Reader{
		"reader":    flaky,
		"trailing":  bytes.NewReader(append(images(t, 4, 4), 1)),
		"truncated": bytes.NewReader(images(t, 5, 4)),
	} {
		rd := must.Get(NewReader(in, Options{}))(t)
		_, _, first := drain(rd, 3)
		n, again := rd.ReadRecords(make([]byte, 6), 1)
		if first == nil || n != 0 || again != first {
			t.Errorf("%s: found %v, then %d records and %v", name, first, n, again)
		}
	}
}

// once fails once, then ends.
type once struct{ err error }

func (o *once) Read([]byte) (int, error) {
	err := o.err
	o.err = io.EOF
	return 0, err
}

func TestSkipRefuses(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1, 1 << 62, 1<<63 - 1} {
		rd := must.Get(NewReader(bytes.NewBuffer(images(t, 0, 4)), Options{Salvage: true}))(t)
		if err := rd.Skip(n); err == nil {
			t.Errorf("skipped %d of 4 records", n)
		}
	}
}

func TestSalvageNotesWithoutSize(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file []byte
		note string // "": none
	}{
		"trailing":          {append(images(t, 4, 4), 1), "extra data after the records"},
		"really no records": {images(t, 0, 0), ""},
	} {
		rd, err := NewReader(bytes.NewBuffer(test.file), Options{Salvage: true})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = drain(rd, 3)
		notes := strings.Join(rd.Notes(), "\n")
		if err != nil || !strings.Contains(notes, test.note) || (notes == "") != (test.note == "") {
			t.Errorf("%s: found %q, %v, expected %q", name, notes, err, test.note)
		}
	}
}
