package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A foreign is a small input of another format that holds sample(0x08), to be damaged.
type foreign struct {
	output   string   // what convert is asked for to make it
	file     string   // what is damaged, in the output's folder
	flags    []string // of convert, to make it
	summed   bool     // a sum covers the file: nothing but the same data may come out of it
	readable bool     // the values lie in the file as they are, so that a flip there changes one
	zipped   bool     // the output is packed as the only member of a zip archive, which is the file
}

var foreigns = map[string]foreign{
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
func (f foreign) make(t *testing.T) (input, file string) {
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

// If a file of another format is cut or has a flipped bit, it is refused or becomes a legal IDX
// file: an undamaged one if the format has checksums, one with another value if the bit was in that
// value. verify calls the file equal only if convert makes an equal output from it.
func TestDamagedForeignFiles(t *testing.T) {
	t.Parallel()
	for name, f := range foreigns {
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
				switch {
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
				if verified == exitOK && (code != exitOK || !bytes.Equal(found.payload, whole.payload)) {
					t.Errorf("%v: verify says equal, convert ends with %d and %v", d, code, found)
				}
			}
		})
	}
}

// A digit of a CSV file that becomes another digit changes that value alone.
func TestDamagedDigit(t *testing.T) {
	t.Parallel()
	input, file := foreigns["csv"].make(t)
	data := read(t, file)
	out := t.TempDir()
	first := bytes.IndexByte(data, '\n') + 1
	value, changed := 0, 0
	for i, b := range data[first:] {
		if b == ',' || b == '\n' {
			value++
			continue
		}
		single := !isDigit(data[first+i-1]) && !isDigit(data[first+i+1])
		if digit := b ^ 1; single && isDigit(digit) {
			want := sample(0x08)
			want.payload[value] = digit - '0'
			d := damage{-1, 8 * (first + i)}
			_, made := attempt(t, d, file, d.of(data), out, "convert", input, "-o", filepath.Join(out, "y.idx"))
			if found, _ := parseIDX(made["y.idx"]); !found.equal(want) {
				t.Errorf("%v: found %v, expected %v", d, found, want)
			}
			changed++
		}
	}
	if changed != 9 {
		t.Errorf("changed %d digits, expected the nine values of one digit", changed)
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
