package idx

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/test/must"
)

// shapes have rank 1 to 4; some have no records or no elements.
var shapes = [][]int64{
	{0}, {1}, {13},
	{5, 7}, {0, 7}, {5, 0}, {0, 0},
	{3, 4, 5}, {0, 4, 5}, {5, 0, 3}, {5, 3, 0},
	{2, 3, 4, 5}, {0, 3, 4, 5}, {2, 3, 0, 5}, {1, 1, 1, 1},
}

// readers deliver the data in pieces of different sizes.
var readers = map[string]func([]byte) io.Reader{
	"at once":         func(b []byte) io.Reader { return bytes.NewReader(b) },
	"byte by byte":    func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
	"by halves":       func(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) },
	"end with data":   func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
	"buffer, no seek": func(b []byte) io.Reader { return bytes.NewBuffer(slices.Clone(b)) },
}

func TestReader(t *testing.T) {
	t.Parallel()
	for _, d := range DTypes() {
		for _, dims := range shapes {
			t.Run(Header{d, dims}.String(), func(t *testing.T) {
				t.Parallel()
				all := values(t, d, elements(dims))
				file := encode(t, binary.BigEndian, d, dims, all)
				head, err := Header{d, dims}.AppendBinary(nil)
				written := append(head, payload(t, binary.BigEndian, all)...)
				if err != nil || !bytes.Equal(written, file) {
					t.Errorf("written: found % x, %v, expected % x", written, err, file)
				}
				for arrival, open := range readers {
					for _, size := range []int64{0, int64(len(file))} {
						for _, limit := range []int{1, 2, 100} {
							rd, err := NewReader(open(file), Options{Size: size})
							if err != nil {
								t.Fatalf("%s, size %d: %v", arrival, size, err)
							}
							if rd.Records() != dims[0] || !slices.Equal(rd.Header().Dims, dims) ||
								rd.Header().DType != d {
								t.Fatalf("found %v, %d records", rd.Header(), rd.Records())
							}
							data, records, err := drain(rd, limit)
							SwapBytes(data, data, d.Size())
							if err != nil || int64(records) != dims[0] ||
								!bytes.Equal(data, payload(t, binary.LittleEndian, all)) {
								t.Fatalf("%s, size %d, %d at a time: found %d records, %v",
									arrival, size, limit, records, err)
							}
							if n, err := rd.ReadRecords(data, 1); n != 0 || err != io.EOF {
								t.Errorf("after the end: found %d, %v", n, err)
							}
							if notes := rd.Notes(); len(notes) > 0 {
								t.Errorf("a good file has notes: %q", notes)
							}
						}
					}
				}
			})
		}
	}
}

// A salvage must not mistake the header's count for the number of reshaped records.
func TestReaderReshape(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dims, to, want []int
	}{
		"as many records": {[]int{4, 6}, []int{2, 3}, []int{4, 2, 3}},
		"larger records":  {[]int{24}, []int{6}, []int{4, 6}},
		"smaller records": {[]int{2, 2, 6}, []int{6}, []int{4, 6}},
		"scalars":         {[]int{4, 6}, []int{}, []int{24}},
	} {
		all := values(t, Int16, 24)
		file := encode(t, binary.BigEndian, Int16, test.dims, all)
		for _, o := range withAndWithout(len(file)) {
			o.Shape = test.to
			rd := must.Get(NewReader(bytes.NewReader(file), o))(t)
			data, records, err := drain(rd, 3)
			if err != nil || records != test.want[0] || !bytes.Equal(data, payload(t, binary.BigEndian, all)) ||
				len(rd.Notes()) > 0 {
				t.Errorf("%s, %+v: found %d records, %v, notes %q", name, o, records, err, rd.Notes())
			}
			found, stored := text.Shape(rd.Header().Dims), text.Shape(rd.Stored().Dims)
			if found != text.Shape(test.want) || stored != text.Shape(test.dims) {
				t.Errorf("%s, %+v: found %v, stored %v, expected %v", name, o, found, stored, test.want)
			}
		}
	}
}

// withAndWithout returns options for a file of that size: without and with it, and with a salvage.
func withAndWithout(size int) []Options {
	return []Options{{}, {Size: int64(size)}, {Salvage: true}, {Salvage: true, Size: int64(size)}}
}

func TestErrorsAreRepeated(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]io.Reader{
		"reader":    bufio.NewReaderSize(iotest.TimeoutReader(bytes.NewReader(images(t, 4, 4))), 16), // fails once
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
