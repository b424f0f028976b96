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
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/test/must"
)

// salvages are files with records of 2×3 bytes, and what is salvaged of them.
var salvages = map[string]struct {
	count   uint32 // of the header
	there   int    // complete records in the file
	extra   string // the bytes after them
	records int    // that are salvaged
	note    string // "" is no note
}{
	"whole":                {4, 4, "", 4, ""},
	"cut between records":  {9, 4, "", 4, "truncated: only 24 of 54 bytes"},
	"cut inside a record":  {9, 4, "\x01\x02\x03", 4, "truncated: only 27 of 54 bytes"},
	"cut after the header": {9, 0, "", 0, "truncated: only 0 of 54 bytes"},
	"counts bytes":         {24, 4, "", 4, "counts bytes"},
	"count is 0":           {0, 4, "", 4, "never filled in"},
	"count is 0, cut":      {0, 4, "\x09", 4, "never filled in"},
	"a byte more":          {4, 4, "\x07", 4, "extra data after"},
	"a record more":        {4, 5, "", 4, "extra data after"},
	"several records more": {4, 9, "\x01\x02", 4, "extra data after"},
	"really no records":    {0, 0, "", 0, ""},
	"count is 2^32-1":      {math.MaxUint32, 4, "", 4, "never filled in"},
}

func TestSalvage(t *testing.T) {
	t.Parallel()
	for name, test := range salvages {
		for _, known := range []bool{true, false} {
			for limit, shape := range map[int][]int{1: nil, 3: {2, 3}, 4: {6}, 100: {1, 3, 2}} {
				t.Run(fmt.Sprintf("%s, size known: %v, %d at a time", name, known, limit), func(t *testing.T) {
					t.Parallel()
					file := append(images(t, test.count, test.there), test.extra...)
					o, records := Options{Salvage: true, Shape: shape}, int64(-1)
					if known {
						o.Size, records = int64(len(file)), int64(test.records)
					}
					rd := must.Get(NewReader(iotest.HalfReader(bytes.NewReader(file)), o))(t)
					if rd.Records() != records {
						t.Errorf("found %d records before reading, expected %d", rd.Records(), records)
					}
					dims, stored := rd.Header().Dims, rd.Stored().Dims[0]
					if shape != nil && text.Shape(dims[1:]) != text.Shape(shape) ||
						dims[0] != int64(test.count) || stored != dims[0] {
						t.Errorf("found %v, stored %d, expected %d of %v", dims, stored, test.count, shape)
					}
					checkSalvaged(t, rd, limit, test.records, test.note)
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

// TestSalvageOfOneByteRecords has headers whose count does not fit the four bytes of payload.
func TestSalvageOfOneByteRecords(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := []byte{0, 0, 0x08, byte(len(test.dims))}
			for _, d := range test.dims {
				file = binary.BigEndian.AppendUint32(file, d)
			}
			file = append(file, "abcd"...)
			for _, size := range []int64{0, int64(len(file))} {
				rd := must.Get(NewReader(bytes.NewReader(file),
					Options{Salvage: true, Size: size, Shape: test.reshape}))(t)
				if !slices.Equal(rd.Header().Dims, []int64{test.want}) {
					t.Errorf("found the header %v, expected the dimension %d", rd.Header(), test.want)
				}
				data, records, err := drain(rd, 3)
				if err != nil || records != 4 || string(data) != "abcd" {
					t.Errorf("size %d: found %d records, %q, %v, expected the 4 that are there",
						size, records, data, err)
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
