package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// samples is the folder of test files.
var samples = filepath.Join("..", "..", "testdata")

// printed is the output of --json, declared from its documentation alone.
type printed struct {
	SchemaVersion int      `json:"schema_version"`
	Status        string   `json:"status"`
	Command       string   `json:"command"`
	Notes         []string `json:"notes"`
	Warnings      []string `json:"warnings"`
	Seconds       float64  `json:"seconds"`
	Inputs        []struct {
		Path, Split, Column, DType, Dataset string
		Shape                               []int
		Rows                                int64
	} `json:"inputs"`
	Outputs []struct {
		Path, Format, Split string
		Rows, Bytes, Files  int64
	} `json:"outputs"`
	Applied []struct {
		Split, Rows string
		Transpose   []string
		Shape       []int
		Salvage     bool
	} `json:"applied"`
	Files []struct {
		Path, DType  string
		Shape        []int
		Whole        bool
		PayloadBytes int64 `json:"payload_bytes"`
		Problem      *failure
		Columns      []struct {
			Name           string
			Min, Max, Mean *float64
			Labels         []struct{ Label, Count int64 }
		}
	} `json:"files"`
	Error *failure `json:"error"`
}

type failure struct {
	Message, Hint, Code, Path string
	Exit                      int
	Offset                    *int64
}

// runJSON runs the program and parses its standard output, which must be one line with one object
// and nothing else.
func runJSON(t *testing.T, args ...string) (printed, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(append([]string{"idxport"}, args...), strings.NewReader(""), &stdout, &stderr)
	var o printed
	decoder := json.NewDecoder(&stdout)
	if err := decoder.Decode(&o); err != nil {
		t.Fatalf("%v: %v; standard error: %s", args, err, stderr.String())
	}
	if rest := strings.TrimSpace(stdout.String()); rest != "" || decoder.More() {
		t.Errorf("%v: found %q after the object, expected nothing", args, rest)
	}
	return o, code
}

func TestJSONOfConvert(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	csv, folder := filepath.Join(out, "x.csv"), filepath.Join(out, "images")
	o, code := runJSON(t, "convert", filepath.Join(samples, "fashion-mnist"), "--split", "train", "--rows", "-10:", "--transpose",
		"-o", csv, "-o", "png="+folder, "--json")
	if code != 0 || o.Status != "ok" || o.Error != nil || o.SchemaVersion != 1 || o.Command != "convert" || o.Seconds <= 0 {
		t.Errorf("found %+v with exit code %d", o, code)
	}
	if len(o.Inputs) != 2 || len(o.Outputs) != 2 || len(o.Applied) != 1 {
		t.Fatalf("found %d inputs, %d outputs, %d applied, expected 2, 2, 1", len(o.Inputs), len(o.Outputs), len(o.Applied))
	}
	image, label := o.Inputs[0], o.Inputs[1]
	if filepath.Base(image.Path) != "train-images-idx3-ubyte.gz" || image.Split != "train" || image.Column != "image" || image.DType != "uint8" ||
		!slices.Equal(image.Shape, []int{28, 28}) {
		t.Errorf("found %+v for the images", image)
	}
	if label.Column != "label" || len(label.Shape) != 0 {
		t.Errorf("found %+v for the labels", label)
	}
	if a := o.Applied[0]; a.Split != "train" || a.Rows != "990:1000" || !slices.Equal(a.Transpose, []string{"image"}) || a.Shape != nil || a.Salvage {
		t.Errorf("found %+v applied", a)
	}
	data, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	if w := o.Outputs[0]; w.Path != csv || w.Format != "csv" || w.Split != "train" || w.Rows != 10 || w.Bytes != int64(len(data)) {
		t.Errorf("found %+v for a file of %d bytes", w, len(data))
	}
	if w := o.Outputs[1]; w.Path != folder || w.Format != "png" || w.Rows != 10 || w.Files != 10 {
		t.Errorf("found %+v for a folder of 10 images", w)
	}
}

// TestJSONOfFailures demands an object that tells a program what to do next: exit codes and their
// names are part of the interface.
func TestJSONOfFailures(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	there := filepath.Join(out, "there.csv")
	if err := os.WriteFile(there, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	hostile := filepath.Join(samples, "hostile")
	good := filepath.Join(samples, "tiny", "uint8-3x7x9.idx")
	at := func(n int64) *int64 { return &n }
	for name, test := range map[string]struct {
		args   []string
		exit   int
		code   string
		path   string
		offset *int64
		hint   string
	}{
		"usage":        {[]string{good, "-o", filepath.Join(out, "x.csv"), "--layout", "list"}, 64, "usage", "", nil, ""},
		"no input":     {nil, 64, "usage", "", nil, "mnist"},
		"unknown flag": {[]string{good, "--frobnicate"}, 64, "usage", "", nil, "--help"},
		"truncated":    {[]string{filepath.Join(hostile, "truncated.idx"), "-o", "csv=-"}, 65, "bad_data", filepath.Join(hostile, "truncated.idx"), at(204), "--salvage"},
		"trailing":     {[]string{filepath.Join(hostile, "trailing-byte.idx"), "-o", "csv=-"}, 65, "bad_data", filepath.Join(hostile, "trailing-byte.idx"), at(205), "--salvage"},
		"html":         {[]string{filepath.Join(hostile, "html-page"), "-o", "csv=-"}, 65, "bad_data", filepath.Join(hostile, "html-page", "train-images-idx3-ubyte.gz"), at(0), "download"},
		"checksum":     {[]string{filepath.Join(hostile, "crc.idx.gz"), "-o", filepath.Join(out, "x.csv")}, 65, "bad_data", filepath.Join(hostile, "crc.idx.gz"), nil, "damaged"},
		"missing":      {[]string{filepath.Join(out, "none"), "-o", "csv=-"}, 66, "no_input", filepath.Join(out, "none"), nil, ""},
		"exists":       {[]string{good, "-o", there}, 73, "cannot_create", there, nil, "--overwrite"},
		"no folder":    {[]string{good, "-o", filepath.Join(good, "x.csv")}, 73, "cannot_create", filepath.Join(good, "x.csv"), nil, "another path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := slices.Concat([]string{"convert"}, test.args, []string{"--json"})
			if i := slices.Index(args, "csv=-"); i >= 0 {
				args[i] = filepath.Join(t.TempDir(), "x.csv")
			}
			o, code := runJSON(t, args...)
			if code != test.exit || o.Status != "error" || o.SchemaVersion != 1 || len(o.Outputs) != 0 || o.Error == nil {
				t.Fatalf("found %+v with exit code %d, expected an error with %d", o, code, test.exit)
			}
			e := o.Error
			if e.Exit != test.exit || e.Code != test.code || e.Path != test.path || e.Message == "" || !strings.Contains(e.Hint, test.hint) {
				t.Errorf("found %+v, expected %d %s, path %q, hint with %q", *e, test.exit, test.code, test.path, test.hint)
			}
			if (e.Offset == nil) != (test.offset == nil) || e.Offset != nil && *e.Offset != *test.offset {
				t.Errorf("found offset %v, expected %v", e.Offset, test.offset)
			}
			if o.Inputs == nil || o.Outputs == nil || o.Applied == nil || o.Notes == nil || o.Warnings == nil {
				t.Errorf("found a list that is null: %+v", o)
			}
		})
	}
}

func TestJSONOfWarnings(t *testing.T) {
	t.Parallel()
	o, code := runJSON(t, "convert", filepath.Join(samples, "hostile", "truncated.idx"), "--salvage", "-o", filepath.Join(t.TempDir(), "x.csv"), "--json", "--quiet")
	if code != 0 || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "salvaged 2") || len(o.Applied) != 1 || !o.Applied[0].Salvage {
		t.Errorf("found %+v with exit code %d, expected a warning of 2 salvaged records", o, code)
	}
}

func TestJSONOfInspect(t *testing.T) {
	t.Parallel()
	o, code := runJSON(t, "inspect", filepath.Join(samples, "fashion-mnist"), "--split", "train", "--json")
	if code != 0 || o.Status != "ok" || o.Command != "inspect" || len(o.Files) != 2 {
		t.Fatalf("found %+v with exit code %d, expected two files", o, code)
	}
	image, label := o.Files[0], o.Files[1]
	if !slices.Equal(image.Shape, []int{1000, 28, 28}) || image.DType != "uint8" || !image.Whole || image.PayloadBytes != 784000 || image.Problem != nil {
		t.Errorf("found %+v for the images", image)
	}
	// counted in the file with zcat and od
	if c := label.Columns[0]; *c.Min != 0 || *c.Max != 9 || len(c.Labels) != 10 || c.Labels[0].Count != 107 {
		t.Errorf("found %+v for the labels, expected 0 to 9 with 107 of label 0", c)
	}
	o, code = runJSON(t, "inspect", filepath.Join(samples, "hostile", "truncated.idx"), "--json")
	if code != 65 || o.Status != "error" || len(o.Files) != 1 || o.Files[0].Whole || o.Files[0].Problem == nil || o.Files[0].Problem.Exit != 65 {
		t.Errorf("found %+v with exit code %d, expected one damaged file", o, code)
	}
	o, code = runJSON(t, "inspect", filepath.Join(samples, "tiny", "float32-3x7x9.idx"), "--json")
	if code != 0 || len(o.Files) != 1 {
		t.Errorf("found %+v with exit code %d: infinities and NaNs have no place in JSON", o, code)
	}
}
