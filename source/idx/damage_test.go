package idx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

func TestTruncationAtEveryByte(t *testing.T) {
	t.Parallel()
	const record = 12
	file := encode(t, binary.BigEndian, Int16, []int{3, 2, 3}, values(t, Int16, 18))
	for cut := range file {
		var before int
		rd, err := NewReader(bytes.NewReader(file[:cut]), Options{})
		if err == nil {
			_, before, err = drain(rd, 1)
		}
		checkTruncated(t, err, cut)
		if want := max(0, cut-imagesHeader) / record; before != want {
			t.Errorf("cut at %d: found %d records before the error, expected %d", cut, before, want)
		}
		if cut == 0 {
			continue // 0 means that the size is unknown
		}
		_, err = NewReader(bytes.NewReader(file[:cut]), Options{Size: int64(cut)})
		checkTruncated(t, err, cut)
	}
}

func checkTruncated(t *testing.T, err error, cut int) {
	t.Helper()
	checkFault(t, err, fault.Truncated, int64(cut), "", "download or write it again")
}

// checkFault compares err with the expected kind, offset, part of the message and part of the hint.
func checkFault(t *testing.T, err error, kind fault.Kind, offset int64, message, hint string) {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Offset != offset || !strings.Contains(e.Msg, message) ||
		!strings.Contains(e.Hint, hint) {
		t.Errorf("found %#v, expected %v at byte %d, with %q and the hint %q", err, kind, offset, message, hint)
	}
}

func TestTruncatedMessage(t *testing.T) {
	t.Parallel()
	_, err := NewReader(bytes.NewReader(images(t, 5, 3)), Options{Size: imagesHeader + 3*6})
	const want = "at byte 34: truncated: found 34 bytes, expected 46 for uint8 5×2×3 (3 complete records)"
	if err == nil || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
	// without a complete record there is nothing to salvage
	for size, salvage := range map[int64]bool{imagesHeader + 6: true, imagesHeader + 5: false} {
		_, err := NewReader(bytes.NewReader(images(t, 5, 1)), Options{Size: size})
		if hint := fault.HintOf(err); err == nil || strings.Contains(hint, "--salvage") != salvage {
			t.Errorf("%d bytes: found %v with the hint %q", size, err, hint)
		}
	}
}

// Datumaro writes the size of the payload in place of the number of records. Such a file must be
// distinguished from a truncated download even if the size of the input is unknown until its end.
func TestCountOfBytesIsNamed(t *testing.T) {
	t.Parallel()
	file := images(t, 3*6, 3)
	for name, size := range map[string]int64{"size known": int64(len(file)), "size unknown": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rd, err := NewReader(bytes.NewReader(file), Options{Size: size})
			if err == nil {
				_, err = rd.ReadRecords(make([]byte, 18*6), 18)
			}
			checkFault(t, err, fault.Malformed, 4, "counts bytes, not records: found 18 for 3 records", "--salvage")
		})
	}
}

func TestTrailingBytes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file       []byte
		end        int64
		known, any string // part of the message if the size is known, and if it is not
		hint       string
	}{
		"one byte":       {append(images(t, 3, 3), 0), 34, "found 1 extra byte ", "found extra data", "--salvage"},
		"another record": {images(t, 3, 4), 34, "found 6 extra bytes", "found extra data", "--salvage"},
		"no records":     {images(t, 0, 4), 16, "found 24 extra bytes", "found extra data", "never filled in"},
		"no elements": {[]byte{0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 0, 9}, 12, "found 1 extra byte ",
			"found extra data", hintNoBytes},
		"rank 1": {[]byte{0, 0, 8, 1, 0, 0, 0, 1, 7, 9}, 9, "found 1 extra byte ", "found extra data", "--salvage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, known := NewReader(bytes.NewReader(test.file), Options{Size: int64(len(test.file))})
			rd := must.Get(NewReader(iotest.DataErrReader(bytes.NewReader(test.file)),
				Options{Salvage: test.hint == hintNoBytes}))(t)
			data, _, unknown := drain(rd, 2)
			if int64(len(data)) != test.end-rd.Stored().Size() {
				t.Errorf("found %d bytes of records before the error", len(data))
			}
			for message, err := range map[string]error{test.known: known, test.any: unknown} {
				checkFault(t, err, fault.Malformed, test.end, message, test.hint)
			}
		})
	}
}

// A failure of the input must not be reported as bad data, wherever it happens, nor taken for the
// end if it wraps io.EOF, nor accepted by a salvage.
func TestReaderPassesErrorsOfTheReader(t *testing.T) {
	t.Parallel()
	file := images(t, 3, 3)
	broken := errors.New("disk on fire")
	for at := range len(file) + 1 {
		for _, cause := range []error{broken, fmt.Errorf("connection lost: %w", io.EOF)} {
			for _, salvage := range []bool{false, true} {
				rd, err := NewReader(&failing{data: file[:at], err: cause}, Options{Salvage: salvage})
				for p := make([]byte, 6); err == nil; {
					_, err = rd.ReadRecords(p, 1)
				}
				if err != cause {
					t.Errorf("after %d bytes, salvage %v: found %v, expected the reader's error", at, salvage, err)
				}
			}
		}
	}
}

func TestMaxRecordSize(t *testing.T) {
	t.Parallel()
	tooLong := "" // where an int has 64 bits
	if math.MaxInt < math.MaxUint32 {
		tooLong = "has a dimension of more than 2147483647"
	}
	for name, test := range map[string]struct {
		dims    []int64
		limit   int64
		message string // "": accepted
	}{
		"at the default": {[]int64{0, DefaultMaxRecordSize}, 0, ""},
		"one over":       {[]int64{0, DefaultMaxRecordSize + 1}, 0, "has 6291457 bytes, expected at most 6291456"},
		"raised":         {[]int64{0, DefaultMaxRecordSize + 1}, DefaultMaxRecordSize + 1, ""},
		"lowered, at it": {[]int64{2, 3, 4}, 12, ""},
		"lowered, one over": {[]int64{2, 3, 4}, 11,
			"at byte 4: a record of uint8 3×4 has 12 bytes, expected at most 11"},
		"4 GiB in a record":    {[]int64{1, math.MaxUint32}, 0, "has 4294967295 bytes"},
		"empty records, limit": {[]int64{1 << 20, 0}, 0, ""},
		"empty records, over": {[]int64{1<<20 + 1, 0}, 0,
			"at byte 4: found 1048577 records with no elements (uint8 1048577×0), expected at most 1048576"},
		"no records at all": {[]int64{0, math.MaxUint32, 0}, 0, tooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, salvage := range []bool{false, true} {
				file := encode(t, binary.BigEndian, Uint8, test.dims, []uint8{})
				_, err := NewReader(bytes.NewReader(file), Options{MaxRecordSize: test.limit, Salvage: salvage})
				if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
					t.Errorf("found %v, expected %q", err, test.message)
				}
			}
		})
	}
}

// Headers of a few bytes that promise gigabytes must not allocate any. Not parallel, because it
// measures what the whole process allocates.
func TestHeadersAllocateNothing(t *testing.T) {
	bombs := map[string]Header{
		"many records":          {Uint8, []int64{math.MaxUint32, 1 << 20}},
		"many scalars":          {Float64, []int64{math.MaxUint32}},
		"one large record":      {Uint8, []int64{1, DefaultMaxRecordSize}},
		"too large a record":    {Uint8, []int64{1, math.MaxUint32}},
		"empty records":         {Uint8, []int64{math.MaxUint32, 0}},
		"empty records at 2^20": {Uint8, []int64{MaxEmptyRecords, 0}},
		"rank 255":              {Uint8, slices.Repeat([]int64{2}, 255)},
	}
	p := make([]byte, 1<<20)
	for name, h := range bombs {
		file := encode(t, binary.BigEndian, h.DType, h.Dims, []uint8{})
		for _, o := range withAndWithout(len(file)) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if rd, err := NewReader(bytes.NewReader(file), o); err == nil {
				limit := len(p) / max(1, int(rd.Header().RecordSize()))
				if limit > 0 {
					_, _ = rd.ReadRecords(p, limit) // tested elsewhere
				}
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<10 {
				t.Errorf("%s, %+v: allocated %d bytes, expected less than 64 KiB", name, o, took)
			}
		}
	}
}

// A batch is read into the caller's buffer, without other allocations.
func TestReadRecordsAllocatesNothing(t *testing.T) {
	rd := must.Get(NewReader(bytes.NewReader(images(t, 1000, 1000)), Options{}))(t)
	p := make([]byte, 5*6)
	allocations := testing.AllocsPerRun(100, func() {
		if n, err := rd.ReadRecords(p, 5); n != 5 || err != nil {
			t.Error(n, err)
		}
	})
	if allocations > 0 {
		t.Errorf("found %v allocations a batch, expected none", allocations)
	}
}
