//go:build linux && amd64

package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// scenarios are all kinds of outputs.
func (h *harness) scenarios() []scenario {
	all := []string{h.data, "--dataset", "fashion-mnist", "--split", "test"}
	images := []string{filepath.Join(h.data, "t10k-images-idx3-ubyte.gz")}
	list := []scenario{
		{name: "parquet", inputs: all, flags: words("-o out.parquet"), targets: words("out.parquet"), quick: true},
		{name: "arrow", inputs: all, flags: words("-o out.arrow"), targets: words("out.arrow")},
		{name: "csv", inputs: all, flags: words("-o out.csv"), targets: words("out.csv")},
		{name: "csv.gz", inputs: all, flags: words("-o out.csv.gz"), targets: words("out.csv.gz")},
		{name: "tar", inputs: all, flags: words("-o out.tar"), targets: words("out.tar")},
		{name: "npy", inputs: images, flags: words("-o out.npy"), targets: words("out.npy")},
		{name: "idx", inputs: images, flags: words("-o out-idx3-ubyte"), targets: words("out-idx3-ubyte")},
		{name: "png", inputs: all, flags: words("-o png=dir --layout huggingface"), targets: words("dir"), quick: true},
		{name: "parts", inputs: all, flags: words("-o parts.parquet --rows-per-file 2"),
			targets: words("parts.parquet"), quick: true},
		{name: "hub", inputs: all, flags: words("--layout huggingface -o hub"), targets: words("hub")},
		{name: "part", inputs: all, flags: words("--part 2/2 -o out-{part}.parquet -o png=images-{part}"),
			targets: words("out-2-of-2.parquet images-2-of-2"), quick: true},
		{name: "shuffled", inputs: []string{h.large()}, targets: words("out-idx3-ubyte.gz"), scratch: true,
			flags: words("--shuffle --max-record-bytes 9000000 -o out-idx3-ubyte.gz")},
	}
	if h.quick {
		list = slices.DeleteFunc(list, func(s scenario) bool { return !s.quick })
	}
	return list
}

func words(text string) []string { return strings.Fields(text) }

// benches prepares all scenarios in all states.
func (h *harness) benches() ([]*bench, error) {
	var list []*bench
	for _, sc := range h.scenarios() {
		states := []state{fresh, overwriting}
		if len(sc.targets) > 1 {
			states = append(states, changed, completing)
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
	applies func(step) bool // the calls that it is put into; nil: all
	do      verdict
	repeat  int                // further calls that it is put into, too
	always  func(step) verdict // for all other calls; may be nil
	every   int                // calls from one run to the next; 0 is 1
	beside  bool               // after a whole run of the other part, which is the only scenario then
	quick   bool
	demand
}

// onward is the repetition of a fault in all calls from one on.
const onward = math.MaxInt

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

var kills = []mode{
	{name: "before each call with an effect", applies: effects, do: killed, demand: mayLeave, quick: true},
	{name: "the same, after a whole run of another part", applies: effects, do: killed, beside: true, demand: mayLeave},
	{name: "after half of each write", applies: halvable, do: verdict{half: true, last: true},
		demand: mayLeave, quick: true},
	{name: "before each, on a file system without rename flags", applies: effects, do: killed, always: noFlags,
		demand: mayVanish},
	{name: "… and without hard links", applies: effects, do: killed, always: noLinks, demand: mayVanish},
}

var (
	killed    = verdict{kill: true}
	succeeds  = demand{success: true}
	fails     = demand{failure: true}
	mayLeave  = demand{mayLeave: true}
	mayVanish = demand{mayLeave: true, mayVanish: true}
)

var failures = []mode{
	{name: "EIO once, each call", do: verdict{fail: syscall.EIO}, quick: true},
	{name: "EIO from each call on", do: verdict{fail: syscall.EIO}, repeat: onward, demand: mayLeave},
	{name: "EIO once, although the call had its effect", applies: effects, do: verdict{after: syscall.EIO},
		quick: true},
	{name: "EIO of fsync and syncfs", applies: of(syncs), do: verdict{after: syscall.EIO}, demand: fails, quick: true},
	{name: "ENOSPC from each call on", applies: allocates, do: verdict{fail: syscall.ENOSPC}, repeat: onward,
		quick: true},
	{name: "EDQUOT of close, too late to repair", applies: of(closes), do: verdict{after: syscall.EDQUOT}},
	{name: "a write that stops half-way", applies: halvable, do: verdict{half: true}, demand: succeeds, quick: true},
	{name: "all writes stop half-way", applies: halvable, do: verdict{half: true}, repeat: onward, demand: succeeds},
	{name: "a write that stops half-way and reports all bytes", applies: halvable, do: verdict{half: true, lie: true},
		demand: fails, quick: true},
	{name: "EINTR once", applies: of(opens, writes, syncs, renames, links, mkdirs, unlinks, locks),
		do: verdict{fail: syscall.EINTR}, demand: succeeds},
	{name: "EMFILE from each open on", applies: of(opens), do: verdict{fail: syscall.EMFILE}, repeat: onward,
		demand: mayLeave},
	{name: "EXDEV of renames and links", applies: of(renames, links), do: verdict{fail: syscall.EXDEV}, repeat: onward},
	{name: "EACCES from each call on", applies: effects, do: verdict{fail: syscall.EACCES}, repeat: onward,
		demand: mayLeave},
	{name: "EIO once, without rename flags", applies: effects, do: verdict{fail: syscall.EIO}, always: noFlags},
	{name: "no fault, without rename flags", applies: of(locks), always: noFlags, demand: succeeds},
	{name: "no fault, without flags and hard links", applies: of(locks), always: noLinks, demand: succeeds},
	{name: "no fault, without flock", applies: of(locks), always: noLocks, demand: succeeds},
}

var signals = []mode{
	sending("SIGINT", syscall.SIGINT, 0),
	sending("SIGTERM", syscall.SIGTERM, 0),
	sending("SIGHUP", syscall.SIGHUP, 0),
	sending("SIGINT twice", syscall.SIGINT, 1),
	sending("SIGTERM twice", syscall.SIGTERM, 1),
}

// sending sends a signal before every second call, and before repeat calls after it. The second one
// may end the run at once.
func sending(name string, sent syscall.Signal, repeat int) mode {
	return mode{name: name + ", before a call", do: verdict{signal: sent}, repeat: repeat, every: 2,
		quick: sent == syscall.SIGTERM, demand: demand{codes: []int{128 + int(sent)}}}
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

// inject puts the fault into call after call. Signals also arrive at calls that read the inputs.
func (b *bench) inject(r *row, m mode) error {
	if m.beside && b.scenario.name != "part" {
		return nil
	}
	published := false // a target was renamed before the fault: the old one may have to stay for the next run
	every, watched := m.every, ""
	if m.do.signal != 0 {
		watched = b.data
	}
	if b.harness.quick {
		every *= 8
	}
	return b.sweep(r, disturbance{
		every:   every,
		watched: watched,
		applies: m.applies,
		before:  func() error { published = false; return nil },
		do: func(t *try, s step, since int) verdict {
			if t.first.n == 0 && filepath.Dir(s.to) == t.dir && slices.Contains(b.targets, filepath.Base(s.to)) {
				published = true
			}
			if m.beside && since == 0 {
				t.wrong = b.otherRun(t.dir)
			}
			if m.do != (verdict{}) && since >= 0 && since <= m.repeat {
				return m.do
			}
			if m.always != nil {
				return m.always(s)
			}
			return verdict{}
		},
		judge: func(t *try) []string {
			o := outcome{t.end, t.text, m.demand}
			if kind := t.first.kind; kind == unlinks || kind == locks || kind == reads || published {
				o.mayLeave = true // it could not delete, or could not look for what to delete
			}
			if m.do.signal != 0 { // no call fails
				o.mayLeave = m.repeat > 0 && t.end.signal == m.do.signal
			}
			return b.judge(t.dir, o)
		},
	})
}
