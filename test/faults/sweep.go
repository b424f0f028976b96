//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// scenarios are all kinds of outputs.
func (h *harness) scenarios() []scenario {
	all := []string{h.data, "--dataset", "fashion-mnist", "--split", "test"}
	images := []string{filepath.Join(h.data, "t10k-images-idx3-ubyte.gz")}
	list := []scenario{
		{name: "parquet", inputs: all, flags: []string{"-o", "out.parquet"}, targets: []string{"out.parquet"}, quick: true},
		{name: "arrow", inputs: all, flags: []string{"-o", "out.arrow"}, targets: []string{"out.arrow"}},
		{name: "csv", inputs: all, flags: []string{"-o", "out.csv"}, targets: []string{"out.csv"}},
		{name: "csv.gz", inputs: all, flags: []string{"-o", "out.csv.gz"}, targets: []string{"out.csv.gz"}},
		{name: "tar", inputs: all, flags: []string{"-o", "out.tar"}, targets: []string{"out.tar"}},
		{name: "npy", inputs: images, flags: []string{"-o", "out.npy"}, targets: []string{"out.npy"}},
		{name: "idx", inputs: images, flags: []string{"-o", "out-idx3-ubyte"}, targets: []string{"out-idx3-ubyte"}},
		{name: "png", inputs: all, flags: []string{"-o", "png=images", "--metadata-csv"}, targets: []string{"images"}, quick: true},
		{name: "parts", inputs: all, flags: []string{"-o", "parts.parquet", "--rows-per-file", "2"}, targets: []string{"parts.parquet"}, quick: true},
		{name: "hub", inputs: all, flags: []string{"--layout", "huggingface", "-o", "hub"}, targets: []string{"hub"}},
		{name: "two", inputs: all, flags: []string{"-o", "out.parquet", "-o", "png=images"}, targets: []string{"out.parquet", "images"}, quick: true},
	}
	if h.quick {
		list = slices.DeleteFunc(list, func(s scenario) bool { return !s.quick })
	}
	return list
}

// benches prepares all scenarios in all states.
func (h *harness) benches() ([]*bench, error) {
	var list []*bench
	for _, sc := range h.scenarios() {
		states := []state{fresh, overwriting}
		if len(sc.targets) > 1 {
			states = append(states, completing)
		}
		for _, st := range states {
			b, err := h.bench(sc, st)
			if err != nil {
				return nil, err
			}
			list = append(list, b)
		}
	}
	return list, nil
}

// bench prepares a scenario in a state, once.
func (h *harness) bench(sc scenario, st state) (*bench, error) {
	key := sc.name + " " + st.name
	if b := h.known[key]; b != nil {
		return b, nil
	}
	b, err := h.prepare(sc, st)
	if err == nil {
		h.known[key] = b
	}
	return b, err
}

// A mode is a fault that is put into every call of a run in turn, until a run has fewer calls.
type mode struct {
	name    string
	applies func(step) bool
	do      verdict
	onward  bool               // from that call on
	always  func(step) verdict // besides, to every call it is not put into; may be nil
	quick   bool

	success, failure, mayLeave, mayVanish bool // as in outcome
}

func effects(s step) bool { return s.effect() }

func of(kinds ...kind) func(step) bool {
	return func(s step) bool { return slices.Contains(kinds, s.kind) }
}

// halvable are writes of which half is something.
func halvable(s step) bool { return s.kind == writes && s.size > 1 }

// places are calls that need room on the disk.
func places(s step) bool {
	return s.creates() || slices.Contains([]kind{writes, syncs, mkdirs, links, renames, closes}, s.kind)
}

// noFlags is a file system that knows no flags of renameat2, as some FUSE and network file systems.
func noFlags(s step) verdict {
	if s.call == "renameat2" && s.flags != 0 {
		return verdict{fail: syscall.EINVAL}
	}
	return verdict{}
}

// noLinks has no hard links either.
func noLinks(s step) verdict {
	if s.kind == links {
		return verdict{fail: syscall.EPERM}
	}
	return noFlags(s)
}

// noLocks is a file system without flock.
func noLocks(s step) verdict {
	if s.kind == locks {
		return verdict{fail: syscall.ENOTSUP}
	}
	return verdict{}
}

func (h *harness) kills() error {
	return h.sweepModes("Killed", []mode{
		{name: "before each call with an effect", applies: effects, do: verdict{kill: true}, mayLeave: true, quick: true},
		{name: "after half of each write", applies: halvable, do: verdict{half: true, last: true}, mayLeave: true, quick: true},
		{name: "before each, on a file system without rename flags", applies: effects, do: verdict{kill: true}, always: noFlags, mayLeave: true, mayVanish: true},
		{name: "… and without hard links", applies: effects, do: verdict{kill: true}, always: noLinks, mayLeave: true, mayVanish: true},
	})
}

func (h *harness) failures() error {
	all := func(step) bool { return true }
	return h.sweepModes("System calls that fail", []mode{
		{name: "EIO once, each call", applies: all, do: verdict{fail: syscall.EIO}, quick: true},
		{name: "EIO from each call on", applies: all, do: verdict{fail: syscall.EIO}, onward: true, mayLeave: true},
		{name: "EIO once, although the call had its effect", applies: effects, do: verdict{after: syscall.EIO}, quick: true},
		{name: "EIO of fsync and syncfs", applies: of(syncs), do: verdict{after: syscall.EIO}, failure: true, quick: true},
		{name: "ENOSPC once", applies: places, do: verdict{fail: syscall.ENOSPC}},
		{name: "ENOSPC from each call on", applies: places, do: verdict{fail: syscall.ENOSPC}, onward: true, quick: true},
		{name: "EDQUOT of close, too late to repair", applies: of(closes), do: verdict{after: syscall.EDQUOT}},
		{name: "a write that stops half-way", applies: halvable, do: verdict{half: true}, success: true, quick: true},
		{name: "all writes stop half-way", applies: halvable, do: verdict{half: true}, onward: true, success: true},
		{name: "a write that stops half-way and says it did all", applies: halvable, do: verdict{half: true, lie: true}, failure: true, quick: true},
		{name: "EINTR once", applies: of(opens, writes, syncs, renames, links, mkdirs, unlinks, locks), do: verdict{fail: syscall.EINTR}, success: true, quick: true},
		{name: "EMFILE once", applies: of(opens), do: verdict{fail: syscall.EMFILE}},
		{name: "EMFILE from each open on", applies: of(opens), do: verdict{fail: syscall.EMFILE}, onward: true, mayLeave: true},
		{name: "EXDEV of renames and links", applies: of(renames, links), do: verdict{fail: syscall.EXDEV}, onward: true},
		{name: "EACCES from each call on", applies: effects, do: verdict{fail: syscall.EACCES}, onward: true, mayLeave: true},
		{name: "EIO once, without rename flags", applies: effects, do: verdict{fail: syscall.EIO}, always: noFlags},
		{name: "no fault, without rename flags", applies: of(locks), always: noFlags, success: true},
		{name: "no fault, without flags and hard links", applies: of(locks), always: noLinks, success: true},
		{name: "no fault, without flock", applies: of(locks), always: noLocks, success: true},
	})
}

// sweepModes puts every mode into every call of every case.
func (h *harness) sweepModes(title string, modes []mode) error {
	benches, err := h.benches()
	if err != nil {
		return err
	}
	for _, m := range modes {
		if h.quick && !m.quick {
			continue
		}
		r := h.row(title, m.name)
		if err := inParallel(h, benches, func(b *bench) error { return b.sweep(r, m) }); err != nil {
			return err
		}
		r.done()
	}
	return nil
}

// sweep puts one mode into call after call.
func (b *bench) sweep(r *row, m mode) error {
	r.addCase()
	for at := 1; ; at++ {
		hit, what, wrong, err := b.inject(m, at)
		if err != nil || !hit {
			return err
		}
		r.add(fmt.Sprintf("%s, %s: %s", b.scenario.name, b.state.name, what), wrong)
	}
}

// inject puts the fault into the at-th call that it applies to, and reports whether there is one.
func (b *bench) inject(m mode, at int) (hit bool, what string, wrong []string, err error) {
	dir, err := b.box()
	if err != nil {
		return false, "", nil, err
	}
	defer os.RemoveAll(dir)
	var (
		seen      int
		first     step
		published bool // a target was renamed before the fault: what is replaced may have to stay for the next run
	)
	end, text, err := runTraced(b.run(dir), []string{dir}, func(s step) verdict {
		if first.n == 0 && slices.Contains(b.paths(dir), s.to) {
			published = true
		}
		if m.applies(s) {
			seen++
			if seen == at || m.onward && seen > at {
				if seen == at {
					first = s
				}
				if m.do != (verdict{}) {
					return m.do
				}
			}
		}
		if m.always != nil {
			return m.always(s)
		}
		return verdict{}
	})
	if err != nil || first.n == 0 {
		return false, "", nil, err
	}
	o := outcome{end: end, text: text, success: m.success, failure: m.failure, mayLeave: m.mayLeave, mayVanish: m.mayVanish}
	if first.kind == unlinks || first.kind == locks || first.kind == reads || published {
		o.mayLeave = true // it could not delete, or could not look at what to delete
	}
	return true, first.String(), b.judge(dir, o), nil
}

// paths are the targets in dir.
func (b *bench) paths(dir string) []string {
	var list []string
	for _, name := range b.targets {
		list = append(list, filepath.Join(dir, name))
	}
	return list
}
