package convert

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/input"
)

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
		"rows per file":     func(o *Options) { o.RowsPerFile = -1 },
		"a bad output":      func(o *Options) { o.Outputs = []string{"s3://"} },
		"compression":       func(o *Options) { o.Compression = []string{"gzip=1"} },
		"layout":            func(o *Options) { o.Layout = []string{"flat"} },
	} {
		o := Options{Source: Source{Inputs: []string{"../testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"}},
			Target: Target{Outputs: []string{out}}}
		change(&o)
		if _, err := Run(t.Context(), o); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

func TestPanicWhileOpeningIsAnError(t *testing.T) {
	t.Parallel()
	panics := func() (int, error) { panic("a defect") }
	if _, err := input.Interruptible(t.Context(), panics); fault.KindOf(err) != fault.Internal {
		t.Errorf("found %v", err)
	}
}

// TestNeededFiles demands that a wanted array that is none of the columns is opened alone: others
// that cannot be read do not hide the error, which lists the columns.
func TestNeededFiles(t *testing.T) {
	t.Parallel()
	images := dataset.File{Name: "image", Array: "images"}
	s := dataset.Split{Files: []dataset.File{images, {Name: "names", Array: "names"}}}
	for _, wanted := range []string{"image", "images"} {
		if got := neededFiles(s, []string{wanted}); len(got) != 1 || got[0].Name != "image" {
			t.Errorf("%s: found %v, expected the file of images", wanted, got)
		}
	}
	if got := neededFiles(s, []string{"label"}); len(got) != 2 {
		t.Errorf("label: found %v, expected all files", got)
	}
}
