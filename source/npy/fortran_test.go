package npy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// fortran returns a .npy file in Fortran order and its elements in C order: element i, counted in C
// order, is i with its digits mixed.
func fortran(descr string, size int, shape ...int) (file, elements []byte) {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	file = bytes.Replace(array(descr, "("+text+",)", 0), []byte("'fortran_order': False"), []byte("'fortran_order':  True"), 1)
	total := 1
	for _, d := range shape {
		total *= d
	}
	elements = make([]byte, total*size)
	for i := range elements {
		elements[i] = byte(i*31 + i/256)
	}
	indices := make([]int, len(shape))
	for range total { // the first dimension is the fastest
		place := 0
		for axis, i := range indices {
			place = place*shape[axis] + i
		}
		file = append(file, elements[place*size:][:size]...)
		for axis := range shape {
			if indices[axis]++; indices[axis] < shape[axis] {
				break
			}
			indices[axis] = 0
		}
	}
	return file, elements
}

// TestFortran reads arrays from every row on, in batches of several sizes.
func TestFortran(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		descr string
		size  int
		shape []int
	}{
		{"|u1", 1, []int{7, 3}}, {"|u1", 1, []int{5, 1, 4, 1}}, {"<i2", 2, []int{9, 2, 3}}, {"<f4", 4, []int{2, 3, 2, 2}},
		{"<f8", 8, []int{1, 2, 3}}, {"|i1", 1, []int{40, 17}},
	} {
		file, want := fortran(c.descr, c.size, c.shape...)
		record := len(want) / c.shape[0]
		for skip := range c.shape[0] + 1 {
			for _, limit := range []int{1, 2, 5, 100} {
				table := must.Get(newTable(bytes.NewReader(file), "-", source.ReadOptions{}))(t)
				must.Do(t, source.Skip(table, int64(skip)))
				if got, err := readAll(table, limit); err != nil || !bytes.Equal(got, want[skip*record:]) {
					t.Fatalf("%s %v: skip %d, batches of %d: found % x, error %v", c.descr, c.shape, skip, limit, got, err)
				}
			}
		}
	}
	large := bytes.Replace(array("|u1", "(1048576, 784)", 0), []byte("'fortran_order': False"), []byte("'fortran_order':  True"), 1)
	_, err := newTable(bytes.NewReader(large), "-", source.ReadOptions{})
	if !errors.Is(err, fault.Unsupported) || !strings.Contains(fault.HintOf(err), "numpy.ascontiguousarray") {
		t.Errorf("found %v, expected that the array is too large", err)
	}
}

// TestFortranDamage: an array that ends early or late is refused.
func TestFortranDamage(t *testing.T) {
	t.Parallel()
	file, _ := fortran("<i2", 2, 9, 2, 3)
	for n := range len(file) + 2 {
		kind, in := fault.Truncated, append(bytes.Clone(file), 0)[:min(n, len(file)+1)]
		if n > len(file) {
			kind = fault.Malformed
		}
		table, err := newTable(bytes.NewReader(in), "-", source.ReadOptions{})
		if err == nil {
			_, err = readAll(table, 4)
		}
		if n != len(file) && !errors.Is(err, kind) || n == len(file) && err != nil {
			t.Errorf("%d of %d bytes: found %v, expected %v", n, len(file), err, kind)
		}
	}
}
