package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// inputEndings are the names that tell convert what a file is, if its content does not.
var inputEndings = []string{"idx", "idx.gz", "csv", "npy", "parquet", "arrow", "arrows", "npz"}

// FuzzConvert gives the whole program any file under any name: it is refused with a message and
// without a trace, or becomes a legal IDX file, in which case inspect reads it too.
func FuzzConvert(f *testing.F) {
	f.Add(uint8(0), encodeIDX(sample(0x08)))
	f.Add(uint8(1), []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(uint8(2), []byte("label,pixel0,pixel1\n1,2,3\n"))
	array := []byte("\x93NUMPY\x01\x00\x44\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2, ), }           \n" +
		"\x01\x02")
	f.Add(uint8(3), array)
	f.Add(uint8(7), zipped("x_train.npy", array))
	f.Add(uint8(4), []byte("PAR1\x15\x00\x00\x00\x00\x04\x00\x00\x00PAR1"))
	f.Add(uint8(5), []byte("ARROW1\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00ARROW1"))
	f.Add(uint8(6), []byte("\xff\xff\xff\xff\x10\x00\x00\x00\x10\x00\x00\x00\x00\x00\x0a\x00"))
	f.Fuzz(func(t *testing.T, ending uint8, data []byte) {
		path := filepath.Join(t.TempDir(), "x."+inputEndings[int(ending)%len(inputEndings)])
		out := t.TempDir()
		what := fmt.Sprintf("%q", data[:min(len(data), 100)])
		code, made := attempt(t, what, path, data, out, "convert", path, "-o", "idx="+out+string(os.PathSeparator))
		if code != exitOK {
			return
		}
		for name, content := range made {
			if _, ok := parseIDX(content); !ok {
				t.Errorf("%s: found %x", name, content)
			}
		}
		if code, _ := attempt(t, what, path, data, out, "inspect", path); code != exitOK {
			t.Errorf("convert takes it, inspect ends with %d", code)
		}
	})
}
