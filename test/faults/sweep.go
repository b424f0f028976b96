//go:build linux && amd64

package main

import (
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
		{name: "png", inputs: all, flags: []string{"-o", "png=images", "--layout", "huggingface"}, targets: []string{"images"}, quick: true},
		{name: "parts", inputs: all, flags: []string{"-o", "parts.parquet", "--rows-per-file", "2"}, targets: []string{"parts.parquet"}, quick: true},
		{name: "hub", inputs: all, flags: []string{"--layout", "huggingface", "-o", "hub"}, targets: []string{"hub"}},
		{name: "two", inputs: all, flags: []string{"-o", "out.parquet", "-o", "png=images"}, targets: []string{"out.parquet", "images"}, quick: true},
		{name: "shuffled", inputs: []string{h.large()}, flags: []string{"--shuffle", "-o", "out-idx3-ubyte.gz"}, targets: []string{"out-idx3-ubyte.gz"}, scratch: true},
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

// A disturbance is tried at each call of a run in turn, until a run has fewer calls.
type disturbance struct {
	every   int             // calls from one try to the next; 0 is 1
	watched string          // a folder whose calls count, besides that of the run; may be empty
	applies func(step) bool // the calls that count; nil: all
	before  func() error    // before each run; may be nil
	// do is called before each watched call. since is 0 at the call of the try, counts the calls
	// after it to which the disturbance applies, and is -1 at all others.
	do    func(t *try, s step, since int) verdict
	judge func(t *try) []string
}

// A try is one run that was disturbed.
type try struct {
	dir   string // the folder of the run
	first step   // the call at which it was disturbed
	end   ending
	text  string // standard error
	wrong []string
	err   error // of the harness; do may set it
}

// sweep tries the disturbance at call after call, and adds what was wrong to the row.
func (b *bench) sweep(r *row, d disturbance) error {
	r.addCase()
	for at := 1; ; at += max(d.every, 1) {
		t, err := b.disturbed(d, at)
		if err != nil || t == nil {
			return err
		}
		r.add(b.String()+": "+t.first.String(), t.wrong)
	}
}

// disturbed tries the disturbance at the at-th call; the result is nil if there are fewer.
func (b *bench) disturbed(d disturbance, at int) (*try, error) {
	if d.before != nil {
		if err := d.before(); err != nil {
			return nil, err
		}
	}
	t, seen := &try{}, 0
	var err error
	if t.dir, err = b.box(); err != nil {
		return nil, err
	}
	defer os.RemoveAll(t.dir)
	watched := []string{t.dir}
	if d.watched != "" {
		watched = append(watched, d.watched)
	}
	t.end, t.text, err = runTraced(b.run(t.dir), watched, func(s step) verdict {
		since := -1
		if d.applies == nil || d.applies(s) {
			seen++
			since = max(seen-at, -1)
		}
		v := d.do(t, s, since)
		if since == 0 {
			t.first = s
		}
		return v
	})
	if err == nil {
		err = t.err
	}
	if err != nil || t.first.n == 0 {
		return nil, err
	}
	t.wrong = append(t.wrong, d.judge(t)...)
	return t, nil
}

// A mode is a fault that is put into every call of a run in turn.
type mode struct {
	name    string
	applies func(step) bool
	do      verdict
	onward  bool               // from that call on
	always  func(step) verdict // for all other calls; may be nil
	quick   bool

	success, failure, mayLeave, mayVanish bool // as in outcome
}

func effects(s step) bool { return s.effect() }

func of(kinds ...kind) func(step) bool {
	return func(s step) bool { return slices.Contains(kinds, s.kind) }
}

// halvable are writes of more than one byte.
func halvable(s step) bool { return s.kind == writes && s.size > 1 }

// allocates are calls that need space on the disk.
func allocates(s step) bool {
	return s.creates() || slices.Contains([]kind{writes, syncs, mkdirs, links, renames, closes}, s.kind)
}

// noFlags is a file system without the flags of renameat2, as some FUSE and network file systems.
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
	return h.sweepModes("System calls that fail", []mode{
		{name: "EIO once, each call", do: verdict{fail: syscall.EIO}, quick: true},
		{name: "EIO from each call on", do: verdict{fail: syscall.EIO}, onward: true, mayLeave: true},
		{name: "EIO once, although the call had its effect", applies: effects, do: verdict{after: syscall.EIO}, quick: true},
		{name: "EIO of fsync and syncfs", applies: of(syncs), do: verdict{after: syscall.EIO}, failure: true, quick: true},
		{name: "ENOSPC once", applies: allocates, do: verdict{fail: syscall.ENOSPC}},
		{name: "ENOSPC from each call on", applies: allocates, do: verdict{fail: syscall.ENOSPC}, onward: true, quick: true},
		{name: "EDQUOT of close, too late to repair", applies: of(closes), do: verdict{after: syscall.EDQUOT}},
		{name: "a write that stops half-way", applies: halvable, do: verdict{half: true}, success: true, quick: true},
		{name: "all writes stop half-way", applies: halvable, do: verdict{half: true}, onward: true, success: true},
		{name: "a write that stops half-way and reports all bytes", applies: halvable, do: verdict{half: true, lie: true}, failure: true, quick: true},
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
		if err := inParallel(h, benches, func(b *bench) error { return b.inject(r, m) }); err != nil {
			return err
		}
	}
	return nil
}

// inject puts the fault into call after call.
func (b *bench) inject(r *row, m mode) error {
	published := false // a target was renamed before the fault: the old one may have to stay for the next run
	return b.sweep(r, disturbance{
		applies: m.applies,
		before:  func() error { published = false; return nil },
		do: func(t *try, s step, since int) verdict {
			if t.first.n == 0 && slices.ContainsFunc(b.targets, func(name string) bool { return s.to == filepath.Join(t.dir, name) }) {
				published = true
			}
			if m.do != (verdict{}) && (since == 0 || m.onward && since > 0) {
				return m.do
			}
			if m.always != nil {
				return m.always(s)
			}
			return verdict{}
		},
		judge: func(t *try) []string {
			o := outcome{end: t.end, text: t.text, success: m.success, failure: m.failure, mayLeave: m.mayLeave, mayVanish: m.mayVanish}
			if kind := t.first.kind; kind == unlinks || kind == locks || kind == reads || published {
				o.mayLeave = true // it could not delete, or could not look for what to delete
			}
			return b.judge(t.dir, o)
		},
	})
}
