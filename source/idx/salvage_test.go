package idx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// salvages are files with records of 2×3 bytes, and how many complete records they have.
var salvages = map[string]struct {
	file    func(t *testing.T) []byte
	records int
	note    string // if the size is known
	unknown string // if it is not; "" is no note
}{
	"whole":                {func(t *testing.T) []byte { return images(t, 4, 4) }, 4, "", ""},
	"cut between records":  {func(t *testing.T) []byte { return images(t, 9, 4) }, 4, "truncated: only 24 of 54 bytes", "truncated: only 24 of 54 bytes"},
	"cut inside a record":  {func(t *testing.T) []byte { return append(images(t, 9, 4), 1, 2, 3) }, 4, "truncated: only 27 of 54 bytes", "truncated: only 27 of 54 bytes"},
	"cut after the header": {func(t *testing.T) []byte { return images(t, 9, 0) }, 0, "truncated: only 0 of 54 bytes", "truncated: only 0 of 54 bytes"},
	"counts bytes":         {func(t *testing.T) []byte { return images(t, 24, 4) }, 4, "counts bytes", "counts bytes"},
	"count is 0":           {func(t *testing.T) []byte { return images(t, 0, 4) }, 4, "never filled in", "never filled in"},
	"count is 0, cut":      {func(t *testing.T) []byte { return append(images(t, 0, 4), 9) }, 4, "never filled in", "never filled in"},
	"a byte more":          {func(t *testing.T) []byte { return append(images(t, 4, 4), 7) }, 4, "extra data after", "extra data after"},
	"a record more":        {func(t *testing.T) []byte { return images(t, 4, 5) }, 4, "extra data after", "extra data after"},
	"several records more": {func(t *testing.T) []byte { return append(images(t, 4, 9), 1, 2) }, 4, "extra data after", "extra data after"},
	"really no records":    {func(t *testing.T) []byte { return images(t, 0, 0) }, 0, "", ""},
	"count is 2^32-1":      {func(t *testing.T) []byte { return images(t, math.MaxUint32, 4) }, 4, "never filled in", "never filled in"},
}

func TestSalvage(t *testing.T) {
	t.Parallel()
	for name, test := range salvages {
		for _, known := range []bool{true, false} {
			for _, limit := range []int{1, 3, 4, 100} {
				t.Run(fmt.Sprintf("%s, size known: %v, %d at a time", name, known, limit), func(t *testing.T) {
					t.Parallel()
					file := test.file(t)
					o, note, records := Options{Salvage: true}, test.unknown, int64(-1)
					if known {
						o.Size, note, records = int64(len(file)), test.note, int64(test.records)
					}
					rd := must.Get(NewReader(iotest.HalfReader(bytes.NewReader(file)), o))(t)
					if rd.Records() != records {
						t.Errorf("found %d records before reading, expected %d", rd.Records(), records)
					}
					checkSalvaged(t, rd, limit, test.records, note)
				})
			}
		}
	}
}

// checkSalvaged reads images and checks the records, their number and the note.
func checkSalvaged(t *testing.T, rd *Reader, limit, want int, note string) {
	t.Helper()
	data, records, err := drain(rd, limit)
	if err != nil || records != want || rd.Records() != int64(want) {
		t.Errorf("found %d records, in the end %d, %v, expected %d", records, rd.Records(), err, want)
	}
	if !bytes.Equal(data, payload(t, binary.BigEndian, values(t, Uint8, 6*want))) {
		t.Errorf("found % x", data)
	}
	notes := rd.Notes()
	if note == "" {
		if len(notes) > 0 {
			t.Errorf("found notes %q, expected none", notes)
		}
		return
	}
	message := fmt.Sprintf("salvaged %d complete records of ", want)
	if len(notes) != 1 || !strings.HasPrefix(notes[0], message) || !strings.Contains(notes[0], note) {
		t.Errorf("found notes %q, expected one: %s… %s", notes, message, note)
	}
	if n, err := rd.ReadRecords(make([]byte, 6), 1); n != 0 || err != io.EOF || len(rd.Notes()) != 1 {
		t.Errorf("after the end: found %d, %v, notes %q", n, err, rd.Notes())
	}
}

func TestSalvageReshape(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		count uint32
		to    []int
		want  []int64 // of the header
		note  string
	}{
		"whole":                 {4, []int{6}, []int64{4, 6}, ""},
		"truncated":             {9, []int{6}, []int64{9, 6}, "truncated"},
		"truncated, same shape": {9, []int{2, 3}, []int64{9, 2, 3}, "truncated"},
		"never filled in":       {0, []int{3, 2}, []int64{0, 3, 2}, "never filled in"},
		"2^32-1":                {math.MaxUint32, []int{1, 6}, []int64{math.MaxUint32, 1, 6}, "never filled in"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := images(t, test.count, 4)
			for _, size := range []int64{0, int64(len(file))} {
				rd := must.Get(NewReader(bytes.NewReader(file), Options{Salvage: true, Size: size, Shape: test.to}))(t)
				if !slices.Equal(rd.Header().Dims, test.want) || rd.Stored().Dims[0] != int64(test.count) {
					t.Errorf("found %v, stored %v", rd.Header(), rd.Stored())
				}
				checkSalvaged(t, rd, 3, 4, test.note)
			}
		})
	}
}

// TestSalvageOfOneByteRecords has headers whose count does not fit the four bytes of payload.
func TestSalvageOfOneByteRecords(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dims    []uint32
		reshape []int
		want    int64  // first dimension of the header
		note    string // why the records were salvaged
	}{
		"labels, count is 0":      {[]uint32{0}, nil, 0, "never filled in"},
		"labels, count is 2^32-1": {[]uint32{math.MaxUint32}, nil, math.MaxUint32, "never filled in"},
		"labels, reshaped":        {[]uint32{math.MaxUint32}, []int{}, math.MaxUint32, "never filled in"},
		"labels, truncated":       {[]uint32{5}, []int{}, 5, "truncated: only 4 of 5 bytes"},
		"images, filled, flatted": {[]uint32{9, 2, 3}, []int{}, 54, "truncated: only 4 of 54 bytes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := []byte{0, 0, 0x08, byte(len(test.dims))}
			for _, d := range test.dims {
				file = binary.BigEndian.AppendUint32(file, d)
			}
			file = append(file, "abcd"...)
			for _, size := range []int64{0, int64(len(file))} {
				rd := must.Get(NewReader(bytes.NewReader(file), Options{Salvage: true, Size: size, Shape: test.reshape}))(t)
				if !slices.Equal(rd.Header().Dims, []int64{test.want}) {
					t.Errorf("found the header %v, expected the dimension %d", rd.Header(), test.want)
				}
				data, records, err := drain(rd, 3)
				if err != nil || records != 4 || string(data) != "abcd" {
					t.Errorf("size %d: found %d records, %q, %v, expected the 4 that are there", size, records, data, err)
				}
				if notes := rd.Notes(); len(notes) != 1 || !strings.Contains(notes[0], test.note) {
					t.Errorf("size %d: found the notes %q, expected one: %s", size, notes, test.note)
				}
			}
		})
	}
}

// Other dimensions must have as many elements as the header says, even if its count is wrong.
func TestSalvageOfAnotherShape(t *testing.T) {
	t.Parallel()
	_, err := NewReader(bytes.NewReader(images(t, math.MaxUint32, 4)), Options{Salvage: true, Shape: []int{}})
	if !errors.Is(err, fault.Usage) || !strings.Contains(fault.HintOf(err), "salvage the file first") {
		t.Errorf("found %v with the hint %q, expected wrong usage", err, fault.HintOf(err))
	}
}

// A file that shrinks after its size was read is an error even for a salvage, which has already
// returned the number of records.
func TestSalvageOfAShrinkingFile(t *testing.T) {
	t.Parallel()
	file := images(t, 9, 4)
	rd := must.Get(NewReader(bytes.NewReader(file[:len(file)-6]), Options{Salvage: true, Size: int64(len(file))}))(t)
	if _, records, err := drain(rd, 1); !errors.Is(err, fault.Truncated) || records != 3 {
		t.Errorf("found %d records, %v, expected 3 and a truncated file", records, err)
	}
}
