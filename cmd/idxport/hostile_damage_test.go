package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A specimen is a small input that holds sample(0x08), to be damaged.
type specimen struct {
	output   string   // what convert is asked for to make it
	file     string   // what is damaged, in the output's folder
	flags    []string // of convert, to make it
	summed   bool     // a sum covers the file: nothing but the same data may come out of it
	readable bool     // the values lie in the file as they are, so that a flip there changes one
	zipped   bool     // the output is packed as the only member of a zip archive, which is the file
	plain    bool     // IDX without compression, which has no redundant bits
}

// specimens have one input of each format. Package compressed tests all compressions.
var specimens = map[string]specimen{
	"idx":                  {output: "x.idx", file: "x.idx", readable: true, plain: true},
	"idx gzip":             {output: "x.idx.gz", file: "x.idx.gz", summed: true, readable: true},
	"parquet":              {output: "x.parquet", file: "x.parquet"},
	"parquet uncompressed": {output: "x.parquet", file: "x.parquet", flags: []string{"--compression", "none"}},
	"parquet images":       {output: "x.parquet", file: "x.parquet", flags: []string{"--layout", "huggingface"}},
	"arrow":                {output: "x.arrow", file: "x.arrow", readable: true},
	// zstd cannot make it smaller.
	"arrow zstd":   {output: "x.arrow", file: "x.arrow", flags: []string{"--compression", "zstd"}, readable: true},
	"arrow stream": {output: "x.arrows", file: "x.arrows", readable: true},
	"npy":          {output: "x.npy", file: "x.npy", readable: true},
	"npz":          {output: "x.npy", file: "x.npz", zipped: true, summed: true},
	"csv":          {output: "x.csv", file: "x.csv"},
	"csv gzip":     {output: "x.csv.gz", file: "x.csv.gz", summed: true},
	"png":          {output: "png=x", file: filepath.Join("x", "1.png"), summed: true},
}

// make converts the sample to the format, and returns the path of the input and of the file to
// damage.
func (f specimen) make(t *testing.T) (input, file string) {
	t.Helper()
	dir := t.TempDir()
	format, name, found := strings.Cut(f.output, "=")
	if !found {
		format, name = "", f.output
	} else {
		format += "="
	}
	from := writeFile(t, t.TempDir(), "sample.idx", encodeIDX(sample(0x08)))
	input, file = filepath.Join(dir, name), filepath.Join(dir, f.file)
	succeed(t, append([]string{"convert", from, "-o", format + input}, f.flags...)...)
	if f.zipped {
		input = writeFile(t, dir, f.file, zipped("arr_0.npy", read(t, input)))
	}
	return input, file
}

// zipped is a zip archive of one file.
func zipped(name string, content []byte) []byte {
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// If a file is cut or has a flipped bit, it is refused or becomes a legal IDX file: an undamaged
// one if the format has checksums, one with another value if the bit was in that value, and itself
// if it is one. verify calls the file equal only if convert makes an equal output from it.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for name, f := range specimens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, file := f.make(t)
			data := read(t, file)
			out, whole := t.TempDir(), sample(0x08)
			reference := writeFile(t, t.TempDir(), "reference.idx", encodeIDX(whole))
			convert := []string{"convert", input, "-o", filepath.Join(out, "y.idx")}
			_, made := attempt(t, "undamaged", file, data, out, convert...)
			if found, _ := parseIDX(made["y.idx"]); !found.equal(whole) {
				t.Fatalf("undamaged: found %v, expected %v", found, whole)
			}
			values := bytes.Index(data, whole.payload)
			if f.readable != (values >= 0) {
				t.Fatalf("the values lie at byte %d", values)
			}
			for _, d := range damagesOf(len(data)) {
				code, made := attempt(t, d, file, d.of(data), out, convert...)
				found, legal := parseIDX(made["y.idx"])
				same := found.equal(whole)
				want, isIDX := parseIDX(d.of(data))
				switch {
				case f.plain && (isIDX != (code == exitOK) || isIDX && !found.equal(want)):
					t.Errorf("%v: exit code %d and %v, expected %v, legal: %t", d, code, found, want, isIDX)
				case code == exitOK && !legal:
					t.Errorf("%v: found %x, expected a legal file", d, made["y.idx"])
				case code == exitOK && f.summed && !same:
					t.Errorf("%v: found %v, expected %v", d, found, whole)
				case code == exitOK && f.readable && d.changes(values, values+len(whole.payload)):
					want := sample(0x08)
					want.payload[d.bit/8-values] ^= 1 << (d.bit % 8)
					if !found.equal(want) {
						t.Errorf("%v: found %v, expected %v", d, found, want)
					}
				}
				verified, _ := attempt(t, d, file, d.of(data), out, "verify", input, reference)
				readAll := verified == exitDiffers || verified == exitOK && slices.Equal(found.dims, whole.dims)
				if f.plain && isIDX != readAll {
					t.Errorf("%v: verify ends with %d for a file that is legal: %t", d, verified, isIDX)
				}
				if verified == exitOK && (code != exitOK || !bytes.Equal(found.payload, whole.payload)) {
					t.Errorf("%v: verify says equal, convert ends with %d and %v", d, code, found)
				}
			}
		})
	}
}
