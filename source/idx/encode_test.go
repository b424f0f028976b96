package idx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// encode makes an IDX file with encoding/binary alone, from the description of the format. values
// is a slice of the Go type of d.
func encode[T int | int64](t testing.TB, order binary.ByteOrder, d DType, dims []T, values any) []byte {
	t.Helper()
	var out bytes.Buffer
	magic := uint32(d)<<8 | uint32(len(dims))
	parts := []any{magic}
	for _, n := range dims {
		parts = append(parts, uint32(n))
	}
	for _, part := range append(parts, values) {
		must.Do(t, binary.Write(&out, order, part))
	}
	return out.Bytes()
}

// payload returns values in the given byte order, without a header.
func payload(t testing.TB, order binary.ByteOrder, values any) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, binary.Write(&out, order, values))
	return out.Bytes()
}

// values returns n elements of d: the extremes first, then numbers whose bytes all differ.
func values(t testing.TB, d DType, n int) any {
	t.Helper()
	switch d {
	case Uint8:
		return fill(n, func(i int) uint8 { return uint8(i * 37) }, 0, 255)
	case Int8:
		return fill(n, func(i int) int8 { return int8(i * 37) }, -128, 127, -1)
	case Int16:
		return fill(n, func(i int) int16 { return int16(i*0x0315 + 1) }, math.MinInt16, math.MaxInt16, -1)
	case Int32:
		return fill(n, func(i int) int32 { return int32(i*0x01030507 + 1) }, math.MinInt32, math.MaxInt32, -1)
	case Float32:
		return fill(n, func(i int) float32 { return float32(i) / 7 }, float32(math.Inf(-1)), math.MaxFloat32,
			math.SmallestNonzeroFloat32)
	case Float64:
		return fill(n, func(i int) float64 { return float64(i) / 7 }, math.Inf(-1), math.MaxFloat64,
			math.SmallestNonzeroFloat64)
	}
	t.Fatalf("no values of %v", d)
	return nil
}

func fill[T any](n int, at func(int) T, first ...T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = at(i)
	}
	copy(all, first)
	return all
}

// elements returns the product of dims.
func elements[T int | int64](dims []T) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// images returns a file of n records of 2×3 unsigned bytes, whose header has the given count.
func images(t testing.TB, count uint32, n int) []byte {
	t.Helper()
	return encode(t, binary.BigEndian, Uint8, []int64{int64(count), 2, 3}, values(t, Uint8, 6*n))
}

// imagesHeader is the size of the header of images.
const imagesHeader = 16

// drain reads to the end, up to limit records at a time, and returns what came before the error. A
// regular end is no error. One record at a time comes from All.
func drain(rd *Reader, limit int) (data []byte, records int, err error) {
	size := int(rd.Header().RecordSize())
	if limit == 1 {
		for record, err := range rd.All() {
			if err != nil || len(record) != size {
				return data, records, err
			}
			data, records = append(data, record...), records+1
		}
		return data, records, nil
	}
	p := make([]byte, limit*size)
	for full := true; ; {
		n, err := rd.ReadRecords(p, limit)
		if n > limit || n > 0 && (err != nil || !full) {
			return data, records, fmt.Errorf("found %d records of %d with %v, "+
				"expected full batches, a last one, or an error", n, limit, err)
		}
		full = n == limit
		data = append(data, p[:n*size]...)
		records += n
		if err == io.EOF {
			return data, records, nil
		}
		if err != nil {
			return data, records, err
		}
	}
}
