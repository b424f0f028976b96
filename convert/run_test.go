package convert_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/fault"
)

// TestCanceledAtTheEnd cancels a run when all rows are written: nothing is published.
func TestCanceledAtTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out := filepath.Join(t.TempDir(), "out.csv")
	_, err := convert.Run(ctx, convert.Options{
		Source: convert.Source{
			Inputs: []string{"../testdata/fashion-mnist"}, Dataset: "fashion-mnist", Split: []string{"test"},
			Events: convert.Events{Progress: func(string, int64) (func(int64), func()) { return nil, cancel }},
		},
		Target: convert.Target{Outputs: []string{out}},
	})
	if _, found := os.Stat(out); !errors.Is(err, context.Canceled) || !errors.Is(found, os.ErrNotExist) {
		t.Errorf("found the error %v and for %s %v", err, out, found)
	}
}

// TestVerifyFindsDamage fills the hidden file of an output with zeros between writing and reading
// it again.
func TestVerifyFindsDamage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"out.parquet", "out-idx3-ubyte"} {
		dir := t.TempDir()
		var spoiled []string
		_, err := convert.Run(t.Context(), convert.Options{
			Source: convert.Source{
				Inputs: []string{"../testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"},
				Events: convert.Events{Progress: func(string, int64) (func(int64), func()) {
					return nil, func() {
						if spoiled != nil {
							return
						}
						spoiled, _ = filepath.Glob(filepath.Join(dir, ".*.partial")) // the pattern is well formed
						for _, path := range spoiled {
							if text, err := os.ReadFile(path); err != nil || os.WriteFile(path, make([]byte, len(text)), 0o666) != nil {
								t.Error(path, err)
							}
						}
					}
				}},
			},
			Target: convert.Target{Outputs: []string{filepath.Join(dir, name)}, Verify: true},
		})
		left, _ := os.ReadDir(dir) // it exists
		if spoiled == nil || fault.KindOf(err) != fault.Malformed || len(left) > 0 {
			t.Errorf("%s: found the error %v and %v, after spoiling %v", name, err, left, spoiled)
		}
	}
}

// TestLatePart makes a part and commits its plan while another attempt makes the same part: nothing
// of that attempt is left.
func TestLatePart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work, _, _, err := convert.WritePlan(t.Context(), convert.Options{
		Source: convert.Source{Inputs: []string{"../testdata/fashion-mnist"}, Dataset: "fashion-mnist", Split: []string{"test"}},
		Target: convert.Target{Outputs: []string{filepath.Join(dir, "out.csv")}},
	}, 1000, filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = convert.MakePart(t.Context(), work, 0, convert.PartOptions{Events: convert.Events{
		Progress: func(string, int64) (func(int64), func()) {
			if _, err := convert.MakePart(t.Context(), work, 0, convert.PartOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := work.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			return nil, func() {}
		},
	}})
	if err != nil {
		t.Error(err)
	}
	var names []string
	found, _ := os.ReadDir(dir) // it exists
	for _, f := range found {
		names = append(names, f.Name())
	}
	if !slices.Equal(names, []string{"out.csv", "plan.json"}) {
		t.Errorf("found %v", names)
	}
}
