package npy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// TestFortran reads arrays from every row on, in batches of several sizes, in one piece and through
// windows of several sizes.
func TestFortran(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		descr string
		size  int
		shape []int
	}{
		{"|u1", 1, []int{7, 3}}, {"|u1", 1, []int{5, 1, 4, 1}}, {"<i2", 2, []int{9, 2, 3}}, {"<f4", 4, []int{2, 3, 2, 2}}, {"<f8", 8, []int{1, 2, 3}}, {"|i1", 1, []int{40, 17}},
	} {
		file, want := fortran(c.descr, c.size, c.shape...)
		path := filepath.Join(t.TempDir(), fmt.Sprint(i, ".npy"))
		must.Do(t, os.WriteFile(path, file, 0o600))
		record := len(want) / c.shape[0]
		for skip := range c.shape[0] + 1 {
			for _, limit := range []int{1, 2, 5, 100} {
				for _, window := range []int64{1, 7, 50, 48 * 9, 48 * 50, maxWindow} {
					f := must.Get(os.Open(path))(t)
					table := must.Get(openFile(f, must.Get(f.Stat())(t), path, source.ReadOptions{}))(t)
					table.window.limit = window
					must.Do(t, source.Skip(table, int64(skip)))
					got, err := readAll(table, limit)
					if err != nil || !bytes.Equal(got, want[skip*record:]) {
						t.Fatalf("%s %v: skip %d, batches of %d, window %d: found % x, error %v", c.descr, c.shape, skip, limit, window, got, err)
					}
					must.Do(t, f.Close())
				}
				piped := must.Get(newTable(bytes.NewBuffer(file), "-", source.ReadOptions{}))(t)
				must.Do(t, source.Skip(piped, int64(skip)))
				if got, err := readAll(piped, limit); err != nil || !bytes.Equal(got, want[skip*record:]) {
					t.Fatalf("%s %v: skip %d of a pipe: found % x, error %v", c.descr, c.shape, skip, got, err)
				}
			}
		}
	}
}

// TestFortranDamage: a file that ends early or late, or shrinks while it is read, is refused, and
// so is a large array that can be read only once.
func TestFortranDamage(t *testing.T) {
	t.Parallel()
	file, _ := fortran("<i2", 2, 9, 2, 3)
	for n := range len(file) {
		table, err := newTable(bytes.NewReader(file[:n]), "-", source.ReadOptions{})
		if err == nil {
			_, err = readAll(table, 4)
		}
		if !errors.Is(err, fault.Truncated) {
			t.Errorf("%d bytes: found %v, expected truncated data", n, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.npy")
	for change, kind := range map[int]fault.Kind{-1: fault.Truncated, 1: fault.Malformed} {
		for _, window := range []int64{10, 48 * 20, maxWindow} {
			must.Do(t, os.WriteFile(path, file, 0o600))
			f := must.Get(os.Open(path))(t)
			table := must.Get(openFile(f, must.Get(f.Stat())(t), path, source.ReadOptions{}))(t)
			table.window.limit = window
			must.Do(t, os.Truncate(path, int64(len(file)+change)))
			if _, err := readAll(table, 4); !errors.Is(err, kind) {
				t.Errorf("%+d bytes, window %d: found %v, expected %v", change, window, err, kind)
			}
			if _, err := openFile(f, must.Get(f.Stat())(t), path, source.ReadOptions{}); err == nil {
				t.Errorf("%+d bytes: opened", change)
			}
			must.Do(t, f.Close())
		}
	}
	large := bytes.Replace(array("|u1", "(1048576, 784)", 0), []byte("'fortran_order': False"), []byte("'fortran_order':  True"), 1)
	_, err := newTable(bytes.NewReader(large), "-", source.ReadOptions{})
	if !errors.Is(err, fault.Unsupported) || !strings.Contains(fault.HintOf(err), "numpy.ascontiguousarray") {
		t.Errorf("found %v, expected that the array is too large for a pipe", err)
	}
}
