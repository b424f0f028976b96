package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idxport/idxport/test/must"
)

var exhaustive = flag.Bool("exhaustive", false,
	"cut small inputs at every byte and flip every bit of them, which takes minutes")

// damages is about how many damaged copies of an input a test tries without -exhaustive.
const damages = 90

// patience is how long a small input may take before the program is said to hang; a loaded machine
// needs a small part of it.
const patience = 30 * time.Second

// A damage is what was done to an input: it was cut to so many bytes, or one bit of it flipped.
type damage struct {
	cut int // −1: not cut
	bit int // bit%8 of byte bit/8
}

func (d damage) String() string {
	if d.cut >= 0 {
		return fmt.Sprintf("cut to %d bytes", d.cut)
	}
	return fmt.Sprintf("bit %d of byte %d flipped", d.bit%8, d.bit/8)
}

// of returns a damaged copy of data.
func (d damage) of(data []byte) []byte {
	if d.cut >= 0 {
		return data[:d.cut]
	}
	copied := slices.Clone(data)
	copied[d.bit/8] ^= 1 << (d.bit % 8)
	return copied
}

// changes reports whether one bit of the bytes from to to−1 was flipped.
func (d damage) changes(from, to int) bool { return d.cut < 0 && d.bit/8 >= from && d.bit/8 < to }

// damagesOf returns all damages of an input of size bytes or, without -exhaustive, about as many as
// the constant damages. Steps have no factor in common with 8, so that all bits have their turn.
func damagesOf(size int) (all []damage) {
	step := 1
	if !*exhaustive {
		step = max(1, 9*size/damages) | 1
	}
	for n := 0; n < size; n += step {
		all = append(all, damage{n, 0})
	}
	for bit := 0; bit < 8*size; bit += step {
		all = append(all, damage{-1, bit})
	}
	return all
}

// attempt runs the program with input written to path, and returns the exit code and what appeared
// in the folder out, which is empty before and after. It demands what holds for any input: an end,
// a code of bad data or of success, a message and nothing on disk with the former, and no word of a
// defect.
func attempt(t *testing.T, what any, path string, input []byte, out string, args ...string) (
	code int, made map[string][]byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, input, 0o666))
	var stdout, stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(slices.Concat([]string{"idxport"}, args), strings.NewReader(""), &stdout, &stderr)
	}()
	select {
	case code = <-ended:
	case <-time.After(patience):
		t.Fatalf("%v: no end after %v", what, patience)
	}
	made = contents(t, out)
	for name := range made {
		must.Do(t, os.RemoveAll(filepath.Join(out, strings.Split(name, string(filepath.Separator))[0])))
	}
	allowed := []int{exitOK, exitDiffers, exitUsage, exitData, exitNoInput}
	if !slices.Contains(allowed, code) || strings.Contains(stderr.String(), "panic") {
		t.Errorf("%v: exit code %d: %s", what, code, &stderr)
	}
	if code == exitOK {
		return code, made
	}
	if len(made) > 0 {
		t.Errorf("%v: exit code %d, but there are %d outputs", what, code, len(made))
	}
	if code != exitDiffers && !strings.Contains("\n"+stderr.String(), "\nidxport: ") {
		t.Errorf("%v: exit code %d, found the message %q", what, code, &stderr)
	}
	return code, nil
}

// contents returns the files below dir, including hidden ones, by path. Folders and links have no
// contents.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	must.Do(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path) // path begins with dir
		if e.IsDir() {
			files[name+string(filepath.Separator)] = nil
			return nil
		}
		if !e.Type().IsRegular() { // a link, which may lead anywhere
			files[name] = nil
			return nil
		}
		files[name], err = os.ReadFile(path)
		return err
	}))
	return files
}

// A tensor holds the data of an IDX file. Its elements are big-endian.
type tensor struct {
	code    byte // of the data type, in IDX
	dims    []int
	payload []byte
}

func (a tensor) equal(b tensor) bool {
	return a.code == b.code && slices.Equal(a.dims, b.dims) && bytes.Equal(a.payload, b.payload)
}

// sizes has the bytes of an element, by the code of its type in the definition of IDX.
var sizes = map[byte]int{0x08: 1, 0x09: 1, 0x0B: 2, 0x0C: 4, 0x0D: 4, 0x0E: 8}

// parseIDX reads data as the definition of IDX says; ok is false if data is not an IDX file.
func parseIDX(data []byte) (a tensor, ok bool) {
	if len(data) < 4 || data[0] != 0 || data[1] != 0 || sizes[data[2]] == 0 || data[3] == 0 ||
		len(data) < 4+4*int(data[3]) {
		return tensor{}, false
	}
	a.code, a.payload = data[2], data[4+4*int(data[3]):]
	total, overflow, empty := uint64(sizes[data[2]]), false, false
	for i := range int(data[3]) {
		d := data[4+4*i:]
		dim := uint64(d[0])<<24 | uint64(d[1])<<16 | uint64(d[2])<<8 | uint64(d[3])
		var high uint64
		high, total = bits.Mul64(total, dim)
		overflow, empty = overflow || high != 0, empty || dim == 0
		a.dims = append(a.dims, int(dim))
	}
	if empty {
		return a, len(a.payload) == 0
	}
	return a, !overflow && total == uint64(len(a.payload))
}

// encodeIDX returns the IDX file of a.
func encodeIDX(a tensor) []byte {
	data := []byte{0, 0, a.code, byte(len(a.dims))}
	for _, d := range a.dims {
		data = append(data, byte(d>>24), byte(d>>16), byte(d>>8), byte(d))
	}
	return append(data, a.payload...)
}

// sample returns three records of 2×2, of any data type, whose elements count up from 1.
func sample(code byte) tensor {
	for _, e := range elements {
		if e.code != code {
			continue
		}
		a := tensor{code: code, dims: []int{3, 2, 2}}
		for i := range 12 {
			a.payload = e.append(a.payload, i+1)
		}
		return a
	}
	return tensor{}
}
