package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/idxport/idxport/test/must"
)

// If an uncompressed file is cut or has a flipped bit, it is refused unless it is still legal. Then
// the output has one other value, other dimensions over the same data, or another type of the same
// size.
func TestDamagedRawFiles(t *testing.T) {
	t.Parallel()
	for name, e := range elements {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := encodeIDX(sample(e.code))
			in, out := filepath.Join(t.TempDir(), "x.idx"), t.TempDir()
			legal := 0
			for _, d := range damagesOf(len(data)) {
				input := d.of(data)
				want, ok := parseIDX(input)
				code, made := attempt(t, d, in, input, out, "convert", in, "-o", filepath.Join(out, "y.npy"))
				found, isArray := parseNPY(made["y.npy"])
				switch {
				case ok != (code == exitOK):
					t.Errorf("%v: exit code %d for a file that is legal: %t", d, code, ok)
				case ok && (!isArray || !found.equal(want)):
					t.Errorf("%v: found %v, expected %v", d, found, want)
				case ok:
					legal++
				}
			}
			if legal == 0 {
				t.Error("no damaged file was legal: flips in the payload are")
			}
		})
	}
}

// If a checksum covers the file, the output has the same data or there is none.
func TestDamagedCompressedFiles(t *testing.T) {
	t.Parallel()
	want := sample(0x0B)
	for name, data := range compressions(t, encodeIDX(want)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out := filepath.Join(t.TempDir(), "x.idx"+name), t.TempDir()
			convert := []string{"convert", in, "-o", filepath.Join(out, "y.npy")}
			_, made := attempt(t, "undamaged", in, data, out, convert...)
			if found, _ := parseNPY(made["y.npy"]); !found.equal(want) {
				t.Fatalf("undamaged: found %v, expected %v", found, want)
			}
			for _, d := range damagesOf(len(data)) {
				code, made := attempt(t, d, in, d.of(data), out, convert...)
				if found, _ := parseNPY(made["y.npy"]); code == exitOK && !found.equal(want) {
					t.Errorf("%v: found %v, expected %v", d, found, want)
				}
				if code == exitOK && d.cut >= 0 {
					t.Errorf("%v: taken", d)
				}
				if d.cut >= 0 { // chosen rows are read to the end of the file, too
					if code, _ = attempt(t, d, in, d.of(data), out, append(convert, "--shuffle")...); code == exitOK {
						t.Errorf("%v: taken, with --shuffle", d)
					}
				}
			}
		})
	}
}

// verify calls a damaged file equal to the undamaged one only if their data is. An uncompressed
// file that is still legal differs, because it has no redundant bits.
func TestDamagedFilesAreVerified(t *testing.T) {
	t.Parallel()
	whole := encodeIDX(sample(0x0B))
	for name, data := range map[string][]byte{"": whole, ".gz": compressions(t, whole)[".gz"]} {
		in, out := filepath.Join(t.TempDir(), "x.idx"+name), t.TempDir()
		reference := writeFile(t, t.TempDir(), "whole.idx", whole)
		for _, d := range damagesOf(len(data)) {
			input := d.of(data)
			code, _ := attempt(t, d, in, input, out, "verify", in, reference)
			_, legal := parseIDX(input)
			if name == "" && legal != (code == exitDiffers) || name == "" && code == exitOK {
				t.Errorf("%v: exit code %d for a file that is legal: %t", d, code, legal)
			}
			if name != "" && code == exitOK {
				r, err := gzip.NewReader(bytes.NewReader(input))
				if err != nil {
					t.Fatalf("%v: taken for equal: %v", d, err)
				}
				if found, err := io.ReadAll(r); err != nil || !bytes.Equal(found, whole) {
					t.Errorf("%v: taken for equal, found %d bytes and %v", d, len(found), err)
				}
			}
		}
	}
}

// compressions is data under each compression. The bzip2 file is what bzip2 1.0.8 makes of
// encodeIDX(sample(0x0B)), as Go has no writer.
func compressions(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for name, open := range map[string]func(io.Writer) (io.WriteCloser, error){
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := open(&b)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil || w.Close() != nil {
			t.Fatal(name, err)
		}
		files[name] = b.Bytes()
	}
	const bz2 = "QlpoOTFBWSZTWf2Rn8cAAANAAH/8IAAhiaQaMIBoAbUG3AlROt87Xv1aISJGC7kinChIfsjP44A="
	files[".bz2"] = must.Get(base64.StdEncoding.DecodeString(bz2))(t)
	return files
}

// npyHeader is the header of version 1 that numpy.save writes.
var npyHeader = regexp.MustCompile(`^(?s:.)NUMPY\x01\x00(?s:..)\{'descr': '([<|])([uif])([1248])', ` +
	`'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n`)

// npyCodes are the codes in IDX of NumPy's types.
var npyCodes = map[string]byte{"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}

// parseNPY reads a file that numpy.save could have written.
func parseNPY(data []byte) (a tensor, ok bool) {
	m := npyHeader.FindSubmatch(data)
	if m == nil {
		return tensor{}, false
	}
	a.code = npyCodes[fmt.Sprintf("%s%s", m[2], m[3])]
	for text := range strings.SplitSeq(string(m[4]), ",") {
		if d, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			a.dims = append(a.dims, d)
		}
	}
	a.payload = slices.Clone(data[len(m[0]):])
	for element := range slices.Chunk(a.payload, max(1, sizes[a.code])) {
		slices.Reverse(element)
	}
	return a, a.code != 0
}
