package convert_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

type watched struct {
	context.Context
	asked func() // called by Err
}

func (w watched) Err() error { w.asked(); return w.Context.Err() }

// TestCanceledAtAnyTime cancels runs, also while rows are counted: nothing is replaced, nor found.
func TestCanceledAtAnyTime(t *testing.T) {
	t.Parallel()
	o := convert.Options{Source: convert.Source{Inputs: []string{"../testdata/fashion-mnist"}, Split: []string{"test"}},
		Target: convert.Target{Outputs: []string{filepath.Join(t.TempDir(), "out.csv")}}}
	must.Get(convert.Run(t.Context(), o))(t)
	before := must.Get(os.Stat(o.Outputs[0]))(t)
	o.IfChanged = true
	for n, err := int64(1), error(nil); n == 1 || err != nil; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		var asked atomic.Int64
		_, err = convert.Run(watched{ctx, func() {
			if asked.Add(1) == n {
				cancel()
			}
		}}, o)
		same := os.SameFile(before, must.Get(os.Stat(o.Outputs[0]))(t))
		if canceled := ctx.Err() != nil; same != canceled || errors.Is(err, context.Canceled) != canceled {
			t.Errorf("%d: found the error %v, and the same file: %v", n, err, same)
		}
		cancel()
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
						spoiled = must.Get(filepath.Glob(filepath.Join(dir, ".*.partial")))(t)
						for _, path := range spoiled {
							text := must.Get(os.ReadFile(path))(t)
							must.Do(t, os.WriteFile(path, make([]byte, len(text)), 0o666))
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
