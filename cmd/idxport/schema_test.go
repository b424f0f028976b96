package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/compare"
	"github.com/idxport/idxport/internal/formats"
)

// A jsonRun is one run of the program with --json whose object is held against
// docs/report.schema.json.
type jsonRun struct {
	name string
	exit int
	args []string // OUT is a folder of the run's own
}

// in is the command line with the folder out.
func (r jsonRun) in(out string) (args []string) {
	for _, arg := range r.args {
		args = append(args, strings.Replace(arg, "OUT", out, 1))
	}
	return args
}

// jsonRuns are runs of all commands; those that need a process, a lock or a device are in
// TestReportOfEveryExitCode.
func jsonRuns() []jsonRun {
	fashion, qmnist := filepath.Join(samples, "fashion-mnist"), filepath.Join(samples, "qmnist", "qmnist-train-labels-idx2-int.gz")
	tiny := func(name string) string { return filepath.Join(samples, "tiny", name+".idx") }
	hostile := func(name string) string { return filepath.Join(samples, "hostile", name) }
	return []jsonRun{
		{"convert to all formats", 0, []string{"convert", fashion, "-o", "OUT", "--to", strings.Join(formats.Names(), ","), "--rows", "0:20"}},
		{"convert to parts", 0, []string{"convert", fashion, "-o", "OUT", "--to", "parquet,csv", "--rows-per-file", "300"}},
		{"convert to Hive folders", 0, []string{"convert", fashion, "-o", "OUT/split={split}/data.parquet"}},
		{"convert for the Hub", 0, []string{"convert", fashion, "--dataset", "fashion-mnist", "-o", "OUT/hub", "--layout", "huggingface", "--rows", "0:50"}},
		{"convert turned", 0, []string{"convert", fashion, "--split", "test", "--rows", "-10:", "--transpose", "-o", "OUT/x.csv"}},
		{"convert reshaped", 0, []string{"convert", tiny("uint8-3x7x9"), "--shape", "63", "-o", "OUT/x.npy"}},
		{"convert salvaged", 0, []string{"convert", hostile("truncated.idx"), "--salvage", "-o", "OUT/x.csv"}},
		{"convert no rows", 0, []string{"convert", tiny("uint8-3x7x9"), "--rows", "3:3", "-o", "OUT/x.csv"}},
		{"convert no records", 0, []string{"convert", tiny("float32-0x7x9"), "-o", "OUT/x.parquet"}},
		{"convert labels of several numbers", 0, []string{"convert", qmnist, "-o", "OUT/x.csv"}},
		{"convert with a label that a format has", 0, []string{"convert", "image=" + filepath.Join(fashion, "t10k-images-idx3-ubyte.gz"), "kind=" + filepath.Join(fashion, "t10k-labels-idx1-ubyte.gz"), "--rows", ":20", "--label-column", "kind", "-o", "OUT/x.tar"}},
		{"convert named columns", 0, []string{"convert", "a=" + tiny("int16-3x7x9"), "b=" + tiny("float64-3x7x9"), "-o", "OUT/x.arrow"}},
		{"convert and verify", 0, []string{"convert", fashion, "-o", "OUT", "--to", "parquet,png", "--rows", "0:20", "--verify"}},
		{"convert if changed", 0, []string{"convert", fashion, "-o", "OUT", "--rows", "0:20", "--if-changed"}},
		{"inspect", 0, []string{"inspect", fashion}},
		{"inspect infinities", 0, []string{"inspect", tiny("float32-3x7x9")}},
		{"inspect nothing", 0, []string{"inspect", tiny("float64-0")}},
		{"inspect labels of several numbers", 0, []string{"inspect", qmnist}},
		{"inspect a truncated file", 65, []string{"inspect", hostile("truncated.idx")}},
		{"inspect no header", 65, []string{"inspect", hostile("one-byte.idx")}},
		{"inspect HTML", 65, []string{"inspect", hostile("html-page")}},
		{"inspect counts that differ", 65, []string{"inspect", hostile("counts-differ")}},
		{"preview", 0, []string{"preview", fashion, "-o", "OUT/x-{split}.png"}},
		{"preview none", 66, []string{"preview", "OUT/none", "-o", "OUT/x.png"}},
		{"usage", 64, []string{"convert", fashion}},
		{"an unknown flag", 64, []string{"convert", "--frobnicate"}},
		{"an unknown command", 64, []string{"frobnicate"}},
		{"a command without reports", 64, []string{"version"}},
		{"an unknown value", 64, []string{"convert", fashion, "-o", "OUT", "--layout", "middle"}},
		{"bad data", 65, []string{"convert", hostile("trailing-byte.idx"), "-o", "OUT/x.csv"}},
		{"a bad checksum", 65, []string{"convert", hostile("crc.idx.gz"), "-o", "OUT/x.csv"}},
		{"no input", 66, []string{"convert", "OUT/none", "-o", "OUT/x.csv"}},
		{"no folder", 73, []string{"convert", tiny("uint8-3x7x9"), "-o", tiny("uint8-3x7x9") + "/x.csv"}},
		{"control characters", 66, []string{"convert", "OUT/no\nsuch\x1b[31mfile", "-o", "OUT/x.csv"}},
	}
}

func TestReportsFollowTheSchema(t *testing.T) {
	t.Parallel()
	schema := readSchema(t)
	for _, test := range jsonRuns() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			args := slices.Concat([]string{"idxport"}, test.in(t.TempDir()), []string{"--json"})
			code := run(args, strings.NewReader(""), &stdout, &stderr)
			follows(t, schema, stdout.Bytes(), code, test.exit)
			for line := range strings.Lines(stderr.String()) {
				checkLogLine(t, line)
			}
			if (test.exit != 0) != strings.Contains(stderr.String(), `"level":"error"`) {
				t.Errorf("found the messages %s with exit code %d", &stderr, code)
			}
		})
	}
}

// ownJSON runs the program in this process with --json.
func ownJSON(args ...string) (stdout []byte, code int) {
	var out, messages bytes.Buffer
	code = run(slices.Concat([]string{"idxport"}, args, []string{"--json"}), strings.NewReader(""), &out, &messages)
	return out.Bytes(), code
}

// follows demands one line with one object that follows the schema and says how the run ended.
func follows(t *testing.T, schema *jsonSchema, stdout []byte, code, expected int) map[string]any {
	t.Helper()
	if code != expected {
		t.Errorf("found exit code %d, expected %d: %s", code, expected, stdout)
	}
	if bytes.Count(stdout, []byte("\n")) != 1 {
		t.Errorf("found %d lines, expected one", bytes.Count(stdout, []byte("\n")))
	}
	var object map[string]any
	if err := json.Unmarshal(stdout, &object); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	for _, wrong := range schema.validate(object) {
		t.Error(wrong)
	}
	failure, _ := object["error"].(map[string]any)
	if (code == 0) != (failure == nil) || failure != nil && failure["exit"] != float64(code) {
		t.Errorf("found the error %v with exit code %d", failure, code)
	}
	return object
}

// TestReportOfVerify is about what verify finds, which is what this run wrote, and what it then
// misses.
func TestReportOfVerify(t *testing.T) {
	t.Parallel()
	schema, out := readSchema(t), t.TempDir()
	fashion, parquet, png := filepath.Join(samples, "fashion-mnist"), filepath.Join(out, "x.parquet"), filepath.Join(out, "png")
	stdout, code := ownJSON("convert", fashion, "--split", "test", "-o", parquet, "-o", "png="+png)
	follows(t, schema, stdout, code, 0)
	for _, path := range []string{parquet, png} {
		stdout, code = ownJSON("verify", path, fashion, "--split", "test")
		if object := follows(t, schema, stdout, code, 0); len(object["verified"].([]any)) != 1 {
			t.Errorf("found %v verified, expected one output", object["verified"])
		}
	}
	stdout, code = ownJSON("verify", parquet, fashion, "--split", "test", "--transpose")
	follows(t, schema, stdout, code, exitDiffers)
}

// TestReportOfNothingToDo is about the second of two equal runs with --if-changed.
func TestReportOfNothingToDo(t *testing.T) {
	t.Parallel()
	schema, out := readSchema(t), t.TempDir()
	for _, status := range []string{"ok", "unchanged"} {
		stdout, code := ownJSON("convert", filepath.Join(samples, "fashion-mnist"), "-o", out, "--if-changed")
		if object := follows(t, schema, stdout, code, 0); object["status"] != status {
			t.Errorf("found the status %v, expected %s", object["status"], status)
		}
	}
}

// TestSchemaIsClosed demands that no object of the schema takes a field that is not named, and that
// every type of the report has all of its fields there.
func TestSchemaIsClosed(t *testing.T) {
	t.Parallel()
	schema := readSchema(t)
	objects := map[string]any{"": schema.root}
	maps.Copy(objects, schema.root["$defs"].(map[string]any))
	for name, definition := range objects {
		if d := definition.(map[string]any); d["type"] == "object" && d["additionalProperties"] != false {
			t.Errorf("$defs/%s takes any field", name)
		}
	}
	for name, value := range map[string]any{"": report{}, "input": convert.Input{}, "output": convert.Output{}, "part": convert.Part{}, "verified": convert.Verified{},
		"difference": compare.Difference{}, "applied": convert.Applied{}, "file": fileReport{}, "column": convert.Column{}, "label": convert.Label{}, "error": errorReport{}} {
		found, expected := fieldNames(reflect.TypeOf(value)), slices.Sorted(maps.Keys(objects[name].(map[string]any)["properties"].(map[string]any)))
		slices.Sort(found)
		if !slices.Equal(found, expected) {
			t.Errorf("%T has the fields %v, the schema's %q %v", value, found, name, expected)
		}
	}
}

// fieldNames are the fields of a type in JSON.
func fieldNames(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			names = append(names, fieldNames(f.Type.Elem())...)
		case f.Anonymous:
			names = append(names, fieldNames(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}

// TestValidatorRefuses changes an object that follows the schema so that it does not any more: a
// validator that takes everything proves nothing.
func TestValidatorRefuses(t *testing.T) {
	t.Parallel()
	schema := readSchema(t)
	stdout, _ := ownJSON("inspect", filepath.Join(samples, "hostile", "truncated.idx"))
	for name, change := range map[string]func(o map[string]any){
		"nothing":                func(map[string]any) {}, // the only one that may pass
		"a new field":            func(o map[string]any) { o["colour"] = "red" },
		"a new field of a file":  func(o map[string]any) { o["files"].([]any)[0].(map[string]any)["colour"] = "red" },
		"no status":              func(o map[string]any) { delete(o, "status") },
		"another status":         func(o map[string]any) { o["status"] = "fine" },
		"an error after success": func(o map[string]any) { o["status"] = "ok" },
		"no error":               func(o map[string]any) { delete(o, "error") },
		"another version":        func(o map[string]any) { o["schema_version"] = 2.0 },
		"null for a list":        func(o map[string]any) { o["notes"] = nil },
		"a note with a new line": func(o map[string]any) { o["notes"] = []any{"one\ntwo"} },
		"negative seconds":       func(o map[string]any) { o["seconds"] = -1.0 },
		"text for a number":      func(o map[string]any) { o["seconds"] = "1" },
		"half an offset":         func(o map[string]any) { o["error"].(map[string]any)["offset"] = 0.5 },
		"a code of another exit": func(o map[string]any) { o["error"].(map[string]any)["code"] = "usage" },
		"an empty path":          func(o map[string]any) { o["error"].(map[string]any)["path"] = "" },
		"an output without bytes": func(o map[string]any) {
			o["outputs"] = []any{map[string]any{"path": "x", "format": "csv", "rows": 1.0}}
		},
	} {
		var object map[string]any
		if err := json.Unmarshal(stdout, &object); err != nil {
			t.Fatal(err)
		}
		change(object)
		if wrong := schema.validate(object); (len(wrong) == 0) != (name == "nothing") {
			t.Errorf("%s: found %s", name, fmt.Sprint(wrong))
		}
	}
}
