package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/compare"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/test/must"
)

// A jsonRun is one run of the program with --json whose object is held against
// docs/report.schema.json.
type jsonRun struct {
	exit int
	args string // separated by spaces; after a ; the arguments of another run, the last of which counts
	says says
}

// says are values of a report, by valueAt's paths. A ~ begins a part of a text.
type says = map[string]string

// failed is what the error of a report says: about which file, at which byte, and a part of the
// hint. The schema demands its code.
func failed(path, offset, hint string) says {
	return says{"error/path": path, "error/offset": offset, "error/hint": "~" + hint}
}

// jsonRuns are runs of all commands. OUT is a folder of the run's own. The script exit_codes has
// those that need a process, a lock or a device.
func jsonRuns() map[string]jsonRun {
	all := strings.Join(sinks.Names(), ",")
	return map[string]jsonRun{
		"all formats": {0, "convert FASHION -o OUT --rows 0:20 --to " + all, nil},
		"parts":       {0, "convert FASHION -o OUT --to parquet,csv --rows-per-file 300", nil},
		"the Hub": {
			0, "convert FASHION --dataset fashion-mnist -o OUT/hub --layout huggingface --rows 0:50", nil,
		},
		"reshaped":           {0, "convert TINY/uint8-3x7x9.idx --shape 63 -o OUT/x.npy", nil},
		"no rows":            {0, "convert TINY/uint8-3x7x9.idx --rows 3:3 -o OUT/x.csv", nil},
		"no records":         {0, "convert TINY/float32-0x7x9.idx -o OUT/x.parquet", nil},
		"labels of numbers":  {0, "convert QMNIST -o OUT/x.csv", nil},
		"named columns":      {0, "convert a=TINY/int16-3x7x9.idx b=TINY/float64-3x7x9.idx -o OUT/x.arrow", nil},
		"convert and verify": {0, "convert FASHION -o OUT --to parquet,png --rows 0:20 --verify", nil},
		"values of a column": {0, "convert FASHION --where label=0-6 --holdout validation=20% -o OUT", nil},
		"if changed":         {0, "convert FASHION -o OUT --if-changed", says{"status": "ok"}},
		"unchanged": {0, "convert FASHION -o OUT --if-changed ; convert FASHION -o OUT --if-changed",
			says{"status": "unchanged"}},
		"no infinities":   {0, "inspect TINY/float32-3x7x9.idx", says{"files/#": "1"}},
		"skipped columns": {0, "inspect HOSTILE/../foreign/animals", nil},
		"inspect nothing": {0, "inspect TINY/float64-0.idx", nil},
		"inspect numbers": {0, "inspect QMNIST", nil},
		"preview":         {0, "preview FASHION -o OUT/x-{split}.png", nil},
		"a format's label": {0, "convert image=FASHION/t10k-images-idx3-ubyte.gz --rows :20 -o OUT/x.tar " +
			"kind=FASHION/t10k-labels-idx1-ubyte.gz --label-column kind", nil},
		"Hive folders": {0, "convert FASHION -o OUT/split={split}/data.parquet",
			says{"inputs/0/etag": "<nil>", "inputs/0/source_rows": "<nil>"}},
		"turned": {0, "convert FASHION --split train --rows -10: --transpose -o OUT/x.csv -o png=OUT/images", says{
			"status": "ok", "command": "convert",
			"inputs/#": "2", "inputs/0/path": "FASHION/train-images-idx3-ubyte.gz", "inputs/0/split": "train",
			"inputs/0/column": "image", "inputs/0/dtype": "uint8", "inputs/0/shape": "[28 28]",
			"inputs/1/column": "label", "inputs/1/shape": "[]",
			"applied":   "[map[rows:990:1000 split:train transpose:[image]]]",
			"outputs/#": "2", "outputs/0/path": "OUT/x.csv", "outputs/0/format": "csv", "outputs/0/split": "train",
			"outputs/0/rows": "10", "outputs/1/path": "OUT/images", "outputs/1/format": "png",
			"outputs/1/rows": "10", "outputs/1/files": "10",
		}},
		// An uncompressed file can be entered anywhere. The sample has 1,000 rows.
		"no rows of labels": {0, "convert FASHION/t10k-labels-idx1-ubyte.gz -o idx=OUT/l ; " +
			"convert OUT/l --rows 0:0 -o OUT/x.csv",
			says{"inputs/0/rows": "0", "inputs/0/source_rows": "1000", "inputs/0/sequential": "<nil>"}},
		"salvaged": {0, "convert HOSTILE/truncated.idx --salvage -o OUT/x.csv --quiet",
			says{"warnings/#": "1", "warnings/0": "~salvaged 2", "applied": "[map[salvage:true]]"}},
		"verify": {0, "convert FASHION --split test -o OUT/x.parquet ; verify OUT/x.parquet FASHION --split test",
			says{"verified/#": "1"}},
		"verify images": {0, "convert FASHION --split test -o png=OUT/x ; verify OUT/x FASHION --split test",
			says{"verified/#": "1"}},
		"verify other images": {exitDiffers, "convert FASHION --split test -o OUT/x.parquet ; " +
			"verify OUT/x.parquet FASHION --split test --transpose", nil},
		"inspect": {0, "inspect FASHION", says{ // counted in the files with zcat and od
			"status": "ok", "command": "inspect", "files/#": "4", "files/0/dtype": "uint8",
			"files/0/shape": "[1000 28 28]", "files/0/whole": "true", "files/0/payload_bytes": "784000",
			"files/0/problem":       "<nil>",
			"files/1/columns/0/min": "0", "files/1/columns/0/max": "9", "files/1/columns/0/labels/#": "10",
			"files/1/columns/0/labels/0/count": "107",
		}},
		"inspect a truncated file": {65, "inspect HOSTILE/truncated.idx",
			says{"files/#": "1", "files/0/whole": "false", "files/0/problem/exit": "65"}},
		"inspect no header":          {65, "inspect HOSTILE/one-byte.idx", nil},
		"inspect HTML":               {65, "inspect HOSTILE/html-page", nil},
		"inspect counts that differ": {65, "inspect HOSTILE/counts-differ", nil},
		"preview none":               {66, "preview OUT/none -o OUT/x.png", failed("OUT/none", "<nil>", "")},
		"no output":                  {64, "convert FASHION", nil},
		"no input":                   {64, "convert", failed("<nil>", "<nil>", "mnist")},
		"an unknown flag":            {64, "convert FASHION --frobnicate", failed("<nil>", "<nil>", "--help")},
		"an unknown command":         {64, "frobnicate", nil},
		"a command without reports":  {64, "version", nil},
		"an unknown value":           {64, "convert FASHION -o OUT --layout middle", nil},
		"a layout of another format": {64, "convert FASHION -o OUT/x.csv --layout list", failed("<nil>", "<nil>", "")},
		"truncated": {65, "convert HOSTILE/truncated.idx -o OUT/x.csv",
			failed("HOSTILE/truncated.idx", "204", "--salvage")},
		"trailing": {65, "convert HOSTILE/trailing-byte.idx -o OUT/x.csv",
			failed("HOSTILE/trailing-byte.idx", "205", "--salvage")},
		"HTML": {65, "convert HOSTILE/html-page -o OUT/x.csv",
			failed("HOSTILE/html-page/train-images-idx3-ubyte.gz", "0", "download")},
		"a bad checksum": {65, "convert HOSTILE/crc.idx.gz -o OUT/x.csv",
			failed("HOSTILE/crc.idx.gz", "<nil>", "damaged")},
		"missing": {66, "convert OUT/none -o OUT/x.csv", failed("OUT/none", "<nil>", "")},
		"exists": {73, "convert TINY/uint8-3x7x9.idx -o OUT/x.csv ; convert TINY/uint8-3x7x9.idx -o OUT/x.csv",
			failed("OUT/x.csv", "<nil>", "--overwrite")},
		"no folder": {73, "convert TINY/uint8-3x7x9.idx -o TINY/uint8-3x7x9.idx/x.csv",
			failed("TINY/uint8-3x7x9.idx/x.csv", "<nil>", "another path")},
		"control characters": {66, "convert OUT/no\nsuch\x1b[31mfile -o OUT/x.csv", nil},
	}
}

func TestReportsFollowTheSchema(t *testing.T) {
	t.Parallel()
	for name, test := range jsonRuns() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			places := strings.NewReplacer("OUT", t.TempDir(), "FASHION", fashion,
				"QMNIST", filepath.Join(samples, "qmnist", "qmnist-train-labels-idx2-int.gz"),
				"TINY", filepath.Join(samples, "tiny"), "HOSTILE", filepath.Join(samples, "hostile"))
			inPlace := func(text string) string { return filepath.FromSlash(places.Replace(text)) }
			var args []string
			for arg := range strings.SplitSeq(test.args, " ") {
				if arg == ";" {
					succeed(t, args...)
					args = nil
				} else {
					args = append(args, inPlace(arg))
				}
			}
			stdout, stderr, code := runJSON(args...)
			report := follows(t, stdout, code, test.exit)
			for path, want := range test.says {
				found := fmt.Sprint(valueAt(report, path))
				part, some := strings.CutPrefix(inPlace(want), "~")
				if some && !strings.Contains(found, part) || !some && found != part {
					t.Errorf("%s: found %s, expected %s", path, found, inPlace(want))
				}
			}
			if code == 0 && valueAt(report, "seconds") == 0.0 {
				t.Error("found no time that the run took")
			}
			outputs, _ := report["outputs"].([]any)
			if code != 0 && len(outputs) > 0 {
				t.Errorf("found the outputs %v after a failure", outputs)
			}
			for _, output := range outputs {
				path, _ := valueAt(output, "path").(string)
				info, err := os.Stat(path)
				if bytes := valueAt(output, "bytes"); err == nil && !info.IsDir() && bytes != float64(info.Size()) {
					t.Errorf("%s: found %v bytes in the report of a file of %d", path, bytes, info.Size())
				}
			}
			checkMessages(t, stderr, code)
		})
	}
}

// messageSchema is the schema of a line on standard error with --json.
const messageSchema = `{"additionalProperties": false, "required": ["time", "level", "message"], "properties": {
	"time": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}([.][0-9]+)?(Z|[+-][0-9:]{5})$"},
	"level": {"enum": ["note", "warning", "error", "wrote", "verified"]},
	"message": {"type": "string", "minLength": 1}, "hint": {"type": "string"}}}`

// checkMessages demands that every line on standard error is a message, and one of an error if
// there was one.
func checkMessages(t *testing.T, stderr []byte, code int) {
	t.Helper()
	schema := parseSchema([]byte(messageSchema))
	for line := range bytes.Lines(stderr) {
		var message map[string]any
		must.Do(t, json.Unmarshal(line, &message))
		for _, wrong := range schema.validate(message) {
			t.Errorf("%s: %s", wrong, line)
		}
	}
	if (code != 0) != bytes.Contains(stderr, []byte(`"level":"error"`)) {
		t.Errorf("found the messages %s with exit code %d", stderr, code)
	}
}

// checkReport returns the object of a report, and what is wrong with it: it should be on one line,
// follow the schema, and say how the run ended.
func checkReport(printed []byte, code int) (object map[string]any, wrong []string) {
	if err := json.Unmarshal(printed, &object); err != nil || bytes.Count(printed, []byte("\n")) != 1 {
		return nil, []string{fmt.Sprintf("found %q, %v, expected one line with an object", printed, err)}
	}
	wrong = reportSchema().validate(object)
	if exit := valueAt(object, "error/exit"); (code == 0) != (exit == nil) || exit != nil && exit != float64(code) {
		wrong = append(wrong, fmt.Sprintf("found the error %v with exit code %d", object["error"], code))
	}
	return object, wrong
}

// follows demands a report of a run that ended with the expected exit code.
func follows(t *testing.T, printed []byte, code, expected int) map[string]any {
	t.Helper()
	object, wrong := checkReport(printed, code)
	if code != expected || len(wrong) > 0 {
		t.Fatalf("found exit code %d, expected %d, and %q: %s", code, expected, wrong, printed)
	}
	return object
}

// A defect anywhere in a command is exit code 70 and an object for --json, not a crash of Go with
// code 2.
func TestPanicIsReported(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	ctx, r := context.Background(), newReport("convert", strings.NewReader(""), &stdout, io.Discard)
	c := command{name: "convert", run: func(context.Context, *report) error { panic("a defect") }}
	code := r.end(ctx, pipeline.Recover(func() error { return c.start(ctx, r, []string{"--json", "x.idx"}) }))
	follows(t, stdout.Bytes(), code, exitInternal)
	if !strings.Contains(stdout.String(), "please report it") {
		t.Errorf("found %s", &stdout)
	}
}

// TestSchemaIsClosed demands that no object of the schema takes a field that is not named, and that
// every type of the report has all of its fields there.
func TestSchemaIsClosed(t *testing.T) {
	t.Parallel()
	schema := reportSchema()
	objects := map[string]any{"": schema.root}
	maps.Copy(objects, schema.root["$defs"].(map[string]any))
	for name, definition := range objects {
		if d := definition.(map[string]any); d["type"] == "object" && d["additionalProperties"] != false {
			t.Errorf("$defs/%s takes any field", name)
		}
	}
	for name, value := range map[string]any{
		"": report{}, "input": convert.Input{}, "output": convert.Output{}, "part": convert.Part{},
		"verified": convert.Verified{}, "difference": compare.Difference{}, "applied": convert.Applied{},
		"file": fileReport{}, "column": convert.Column{}, "label": convert.Label{}, "error": errorReport{},
	} {
		found := slices.Sorted(slices.Values(fieldNames(reflect.TypeOf(value))))
		expected := slices.Sorted(maps.Keys(valueAt(objects[name], "properties").(map[string]any)))
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
	schema := reportSchema()
	stdout, _, _ := runJSON("inspect", filepath.Join(samples, "hostile", "truncated.idx"))
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
		must.Do(t, json.Unmarshal(stdout, &object))
		change(object)
		if wrong := schema.validate(object); (len(wrong) == 0) != (name == "nothing") {
			t.Errorf("%s: found %q", name, wrong)
		}
	}
}
