package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/idxport/idxport/fault"
)

// TestOptionsAreData sets every field of Options that is data, and demands that JSON returns all of
// them. Plans store options like this.
func TestOptionsAreData(t *testing.T) {
	t.Parallel()
	var o Options
	fill := func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Field(i)
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue
			}
			switch f.Interface().(type) {
			case string:
				f.SetString("x")
			case []string:
				f.Set(reflect.ValueOf([]string{"x", "y,z"}))
			case []int:
				f.Set(reflect.ValueOf([]int{-1, 28}))
			case bool:
				f.SetBool(true)
			case *bool:
				f.Set(reflect.ValueOf(new(bool))) // false, which differs from nil
			case int64:
				f.SetInt(1 << 40)
			default:
				t.Errorf("%s has the type %s, for which this test has no value", v.Type().Field(i).Name, f.Type())
			}
		}
	}
	fill(reflect.ValueOf(&o.Source).Elem())
	fill(reflect.ValueOf(&o.View).Elem())
	fill(reflect.ValueOf(&o.Target).Elem())
	text, err := json.Marshal(o)
	var back Options
	if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(o, back) {
		t.Errorf("%s came back as %+v, expected %+v (%v)", text, back, o, err)
	}
	if part := back.forParts(); len(part.Inputs)+len(part.Outputs)+len(part.To)+len(part.Split) > 0 || part.Overwrite || part.Dataset != "" {
		t.Errorf("found %+v among the options of parts", part)
	}
}

// TestOptionsAreChecked gives programs what the command line does not let through.
func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "x.csv")
	for name, change := range map[string]func(o *Options){
		"no input":          func(o *Options) { o.Inputs = nil },
		"an empty input":    func(o *Options) { o.Inputs = []string{""} },
		"a URL of nothing":  func(o *Options) { o.Inputs = []string{"s3://"} },
		"classes":           func(o *Options) { o.Classes = "s3://" },
		"record bytes":      func(o *Options) { o.MaxRecordBytes = -1 },
		"many record bytes": func(o *Options) { o.MaxRecordBytes = MaxRecordBytesLimit + 1 },
		"workers":           func(o *Options) { o.Workers = -1 },
		"many workers":      func(o *Options) { o.Workers = MaxWorkers + 1 },
		"byte order":        func(o *Options) { o.ByteOrder = "middle" },
		"type":              func(o *Options) { o.DType = "uint3" },
		"rows":              func(o *Options) { o.Rows = "first" },
		"condition":         func(o *Options) { o.Where = []string{"label"} },
		"hold-out":          func(o *Options) { o.Holdout = []string{"a"} },
		"hold-out twice":    func(o *Options) { o.Holdout = []string{"a=1", "a=2"} },
		"column":            func(o *Options) { o.Columns = []string{""} },
		"column twice":      func(o *Options) { o.Columns = []string{"image", "image"} },
		"take":              func(o *Options) { o.Take = -1 },
		"strata":            func(o *Options) { o.Stratify = true },
		"seed":              func(o *Options) { o.Seed = 1 },
		"channels":          func(o *Options) { o.Channels = "both" },
		"rows per file":     func(o *Options) { o.RowsPerFile = -1 },
		"file size":         func(o *Options) { o.FileSize = -1 },
		"a bad output":      func(o *Options) { o.Outputs = []string{"s3://"} },
		"compression":       func(o *Options) { o.Compression = []string{"gzip=1"} },
		"layout":            func(o *Options) { o.Layout = []string{"flat"} },
		"style":             func(o *Options) { o.CSVStyle = "plain" },
		"class folders":     func(o *Options) { o.ClassFolders = "all" },
	} {
		o := Options{Source: Source{Inputs: []string{"../testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"}}, Target: Target{Outputs: []string{out}}}
		change(&o)
		_, err := Run(t.Context(), o)
		_, _, _, planErr := WritePlan(t.Context(), o, 0, out+".json")
		if !errors.Is(err, fault.Usage) || !errors.Is(planErr, fault.Usage) {
			t.Errorf("%s: found %v, and for a plan %v", name, err, planErr)
		}
	}
	for name, rows := range map[string]int64{"rows per part": -1, "a plan without": 1} {
		o := Options{Source: Source{Inputs: []string{"-"}, Stdin: bytes.NewReader(nil)}, View: View{Rows: "0:3"}, Target: Target{Outputs: []string{out}}}
		if _, _, _, err := WritePlan(t.Context(), o, rows, out+".json"); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}
