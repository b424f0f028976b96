package dataset

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	if sum, ok := p.hashes[filepath.Base(path)]; ok || p.hashes == nil { // files have the same data
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

// headerFile returns a file with a header and no payload, which nothing here reads. It is not
// compressed, whatever its name.
func headerFile(t *testing.T, file string) (name string, data []byte) {
	t.Helper()
	fields := strings.Fields(file)
	h := idx.Header{DType: idx.Uint8}
	if strings.Contains(fields[0], "-int") {
		h.DType = idx.Int32
	}
	for _, d := range fields[1:] {
		var n int64
		must.Get(fmt.Sscan(d, &n))(t)
		h.Dims = append(h.Dims, n)
	}
	return fields[0], must.Get(h.AppendBinary(nil))(t)
}

// summaries formats each table in a line: name, data set, columns and their files.
func summaries(splits []Split) (list []string) {
	for _, s := range splits {
		dataset, columns := "?", ""
		if s.Dataset != nil {
			dataset = s.Dataset.Name
		}
		for _, f := range s.Files {
			columns += " " + f.Name + "=" + filepath.Base(f.Path)
		}
		list = append(list, fmt.Sprintf("%s/%s/%s:%s", s.Name, s.Stem, dataset, columns))
	}
	return list
}

func notes(splits []Split) (all []string) {
	for _, s := range splits {
		all = append(append(all, s.FolderNotes...), s.Notes...)
	}
	return all
}

// inputsIn parses arguments whose paths are relative to dir.
func inputsIn(dir, args string) (inputs []Input) {
	for _, arg := range strings.Fields(args) {
		in := ParseInput(arg)
		if in.Path != source.Stdin {
			in.Path = filepath.Join(dir, in.Path)
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// checkFind demands the summaries of the tables in args, one note for every part in parts, and that
// standard input, which can be read only once, is left alone.
func checkFind(t *testing.T, dir, args string, o Options, want, parts []string) {
	t.Helper()
	p := &testProber{}
	splits := must.Get(Find(inputsIn(dir, args), p, o))(t)
	if slices.Contains(p.probed, source.Stdin) {
		t.Error("standard input was probed")
	}
	if got := summaries(splits); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	all := notes(splits)
	for _, part := range parts {
		if !strings.Contains(strings.Join(all, "\n"), part) {
			t.Errorf("no note %q in %q", part, all)
		}
	}
	if len(all) != len(parts) {
		t.Errorf("got %d notes, want %d: %q", len(all), len(parts), all)
	}
}

// A refusal is what Find says about some arguments.
type refusal struct {
	files   []string // of a folder of its own
	args    string   // the whole folder if empty
	options Options
	want    error
	message string // parts of it, separated by bars
	hint    string // a part of it
}

func (r refusal) check(t *testing.T, dir string) {
	t.Helper()
	_, err := Find(inputsIn(dir, cmp.Or(r.args, ".")), &testProber{}, r.options)
	if !errors.Is(err, r.want) {
		t.Fatalf("got %v, want %v", err, r.want)
	}
	for part := range strings.SplitSeq(r.message, "|") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %q", part, err)
		}
	}
	hint := fault.HintOf(err)
	if !strings.Contains(hint, r.hint) || strings.Contains(hint, filepath.Join("x", "y", "z")) {
		t.Errorf("hint %q, want %q", hint, r.hint)
	}
}

// published returns the hash of a published file, by the name of its data set and i, its place.
func published(t *testing.T, dataset string, i int) string {
	t.Helper()
	return must.Get(Lookup(dataset))(t).Files[i].SHA256
}

// The places of the files of MNIST and of Fashion-MNIST.
const trainLabels, trainImages, testLabels, testImages = 0, 1, 2, 3

// The four files that several data sets have, and the columns of their two splits.
const (
	images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	trainPair      = "image=" + images + " label=" + labels
	testPair       = "image=t10k-images-idx3-ubyte label=t10k-labels-idx1-ubyte"
)

var fourFiles = []string{
	images + " 60000 28 28", labels + " 60000", "t10k-images-idx3-ubyte 10000 28 28", "t10k-labels-idx1-ubyte 10000",
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
