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
		dir, spoiled := t.TempDir(), []string(nil)
		spoil := func() {
			spoiled = must.Get(filepath.Glob(filepath.Join(dir, ".*.partial")))(t)
			for _, path := range spoiled {
				must.Do(t, os.WriteFile(path, make([]byte, must.Get(os.Stat(path))(t).Size()), 0o666))
			}
		}
		o := convert.Options{Target: convert.Target{Outputs: []string{filepath.Join(dir, name)}, Verify: true}}
		o.Inputs = []string{"../testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"}
		o.Events.Progress = func(string, int64) (func(int64), func()) { return nil, spoil }
		_, err := convert.Run(t.Context(), o)
		left, _ := os.ReadDir(dir) // it exists
		if spoiled == nil || fault.KindOf(err) != fault.Malformed || len(left) > 0 {
			t.Errorf("%s: found the error %v and %v, after spoiling %v", name, err, left, spoiled)
		}
	}
}

// TestReplacedInputIsNotRecorded replaces an input between its opening and its hash.
func TestReplacedInputIsNotRecorded(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "new")
	in := filepath.Join(dir, "t10k-labels-idx1-ubyte")
	must.Do(t, os.WriteFile(in, []byte{0, 0, 8, 1, 0, 0, 0, 1, 1}, 0o666))
	must.Do(t, os.WriteFile(other, []byte{0, 0, 8, 1, 0, 0, 0, 2, 2, 2}, 0o666))
	o := convert.Options{Target: convert.Target{Outputs: []string{other + ".csv"}, IfChanged: true}}
	o.Inputs, o.Events.Message = []string{dir}, func(bool, string) { _ = os.Rename(other, in) }
	if _, err := convert.Run(t.Context(), o); fault.KindOf(err) != fault.Changed {
		t.Errorf("found %v, expected %v", err, fault.Changed)
	}
}
