package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// A testProber reads plain and gzip files. hashes are by base name, as no test writes a published
// payload.
type testProber struct {
	hashes map[string]string
	probed []string // base names, in order
}

func (p *testProber) read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (p *testProber) Header(path string) (idx.Header, error) {
	p.probed = append(p.probed, filepath.Base(path))
	data, err := p.read(path)
	if err != nil {
		return idx.Header{}, err
	}
	return idx.ReadHeader(bytes.NewReader(data))
}

func (p *testProber) SHA256(path string, _ int64) (string, error) {
	p.probed = append(p.probed, filepath.Base(path))
	if sum, ok := p.hashes[filepath.Base(path)]; ok {
		return sum, nil
	}
	return "", errors.New("truncated")
}

// folder makes a folder of files. A file is "name dims…", such as "a-idx2-int 3 8", of the type in
// the name; or "name=text".
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files {
		name, text, ok := strings.Cut(file, "=")
		data := []byte(text)
		if !ok {
			name, data = headerFile(t, file)
		}
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, data, 0o666))
	}
	return dir
}

// headerFile returns a file with a header and no payload, which nothing here reads.
func headerFile(t *testing.T, file string) (name string, data []byte) {
	t.Helper()
	fields := strings.Fields(file)
	h := idx.Header{DType: idx.Uint8}
	if strings.Contains(fields[0], "-int") {
		h.DType = idx.Int32
	}
	for _, d := range fields[1:] {
		var n int64
		if _, err := fmt.Sscan(d, &n); err != nil {
			t.Fatal(err)
		}
		h.Dims = append(h.Dims, n)
	}
	data = must.Get(h.AppendBinary(nil))(t)
	if strings.HasSuffix(fields[0], ".gz") {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(data)
		_ = z.Close()
		data = packed.Bytes()
	}
	return fields[0], data
}

// summary formats a table in a line: name, data set, columns and their files.
func summary(s Split) string {
	dataset := "?"
	if s.Dataset != nil {
		dataset = s.Dataset.Name
	}
	columns := make([]string, len(s.Files))
	for i, f := range s.Files {
		columns[i] = f.Name + "=" + filepath.Base(f.Path)
	}
	return fmt.Sprintf("%s/%s/%s: %s", s.Name, s.Stem, dataset, strings.Join(columns, " "))
}

func summaries(splits []Split) []string {
	list := make([]string, len(splits))
	for i, s := range splits {
		list[i] = summary(s)
	}
	return list
}

func notes(splits []Split) string {
	var all []string
	for _, s := range splits {
		all = append(append(all, s.FolderNotes...), s.Notes...)
	}
	return strings.Join(all, "\n")
}

// published returns the hash of a published file, by the name of its data set and i, its place.
func published(t *testing.T, dataset string, i int) string {
	t.Helper()
	return must.Get(Lookup(dataset))(t).Files[i].SHA256
}

// The places of the files of MNIST and of Fashion-MNIST.
const trainLabels, trainImages, testLabels, testImages = 0, 1, 2, 3

var fourFiles = []string{
	"train-images-idx3-ubyte 60000 28 28", "train-labels-idx1-ubyte 60000",
	"t10k-images-idx3-ubyte 10000 28 28", "t10k-labels-idx1-ubyte 10000",
}

func TestParseInput(t *testing.T) {
	t.Chdir(folder(t, "a=b", "left=right.idx")) // two files: "a" and "left"; no file has a = in its name
	must.Do(t, os.WriteFile("x=y", nil, 0o666))
	for arg, want := range map[string]Input{
		"image=a.idx": {"a.idx", "image"},
		"x=y":         {"x=y", ""}, // exists as a whole
		"./a=b":       {"./a=b", ""},
		"data/a=b":    {"data/a=b", ""},
		"1a=b":        {"1a=b", ""},
		"a=":          {"a=", ""},
		"label=-":     {"-", "label"},
		"label_2=b=c": {"b=c", "label_2"},
		"größe=b":     {"b", "größe"},
		"-":           {"-", ""},
	} {
		if got := ParseInput(arg); got != want {
			t.Errorf("%s: got %+v, want %+v", arg, got, want)
		}
	}
}

func TestFindPaths(t *testing.T) {
	t.Parallel()
	dir := folder(t, fourFiles...)
	for name, test := range map[string]struct {
		inputs []Input
		want   error
	}{
		"nothing":         {nil, fault.Usage},
		"no such file":    {[]Input{{Path: filepath.Join(dir, "nothing")}}, fs.ErrNotExist},
		"two folders":     {[]Input{{Path: dir}, {Path: dir}}, fault.Usage},
		"folder and file": {[]Input{{Path: filepath.Join(dir, "train-images-idx3-ubyte")}, {Path: dir}}, fault.Usage},
		"a named folder":  {[]Input{{Path: dir, Name: "image"}}, fault.Usage},
		"stdin twice":     {[]Input{{Path: source.Stdin, Name: "a"}, {Path: source.Stdin, Name: "b"}}, fault.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(test.inputs, &testProber{}, Options{})
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if n := strings.Count(err.Error(), "nothing"); name == "no such file" && n != 1 {
				t.Errorf("%v: found the path %d times, expected once", err, n)
			}
		})
	}
}
