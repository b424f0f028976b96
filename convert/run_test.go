package convert_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// TestCanceledAtTheEnd cancels a run when its output is written and verified: nothing is published.
func TestCanceledAtTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ends := []func(){func() {}, cancel} // of writing, and of verifying
	out := filepath.Join(t.TempDir(), "out.csv")
	_, err := convert.Run(ctx, convert.Options{
		Source: convert.Source{
			Inputs: []string{"../testdata/fashion-mnist"}, Dataset: "fashion-mnist", Split: []string{"test"},
			Events: convert.Events{Progress: func(string, int64) (_ func(int64), end func()) {
				end, ends = ends[0], ends[1:]
				return nil, end
			}},
		},
		Target: convert.Target{Outputs: []string{out}, Verify: true},
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
						if spoiled == nil {
							spoiled = must.Get(filepath.Glob(filepath.Join(dir, ".*.partial")))(t)
							for _, path := range spoiled {
								text := must.Get(os.ReadFile(path))(t)
								must.Do(t, os.WriteFile(path, make([]byte, len(text)), 0o666))
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
