package convert

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// PartOptions are what a run that makes a part may choose: nothing that decides on its bytes.
type PartOptions struct {
	Verify  bool
	Workers int
	Events  Events
}

// MakePart makes the part of a plan with an index. To make it twice, at once or later, is harmless:
// there is no output in the report then.
func MakePart(ctx context.Context, work *plan.Plan, index int, options PartOptions) (*Report, error) {
	r := NewReport(options.Events)
	t, part, err := work.Part(index)
	if err != nil {
		return r, err
	}
	if work.Tool != Tool {
		return r, usagef("the plan is of %s, and this is %s: other versions may make other bytes", work.Tool, Tool).WithHint("run all parts with the version that made the plan")
	}
	if done, err := work.Committed(ctx, t); err != nil {
		return r, err
	} else if done {
		r.Note("%s is committed already", t.Path)
		return r, nil
	}
	if task, err := work.Told(ctx, t, part); task != nil || err != nil {
		if task != nil {
			r.Note("part %d is there already", part.Index)
		}
		return r, err
	}
	err = makePart(ctx, work, t, part, options, r)
	if done, doneErr := work.Committed(ctx, t); doneErr == nil && done { // meanwhile: another attempt was faster
		work.Tidy(ctx, t)
		r.Note("%s is committed already", t.Path)
		return r, nil
	}
	if fault.KindOf(err) == fault.IO && errors.Is(err, fs.ErrNotExist) { // its own folder is gone
		err = fault.New(fault.Refused, "part %d was aborted meanwhile", index).In(t.Path).WithHint("run the part again")
	}
	if object.IsURL(t.Path) && errors.Is(err, fault.Exists) {
		name := source.Under(t.Path, work.FileName(t, part))
		err = fault.New(fault.Exists, "it is there already").In(name).WithHint("idxport commit ends what a commit has begun; or move it away")
	}
	return r, err
}

// makePart makes a part under a name of its own and delivers it.
func makePart(ctx context.Context, work *plan.Plan, t *plan.Target, part *plan.Part, options PartOptions, r *Report) error {
	if err := t.CheckInputs(ctx, part); err != nil {
		return err
	}
	attempt, err := work.Attempt(t, part)
	if err != nil {
		return err
	}
	inner := NewReport(Events{Progress: options.Events.Progress}) // its outputs are attempts, of which nobody needs to know; its messages are told below
	o, err := partOptions(work, t, part, attempt, options, inner)
	if err != nil {
		return err
	}
	seen := o.newWatch(ctx, t, part)
	o.place = seen
	if err := o.run(ctx); err != nil {
		return err
	}
	if err := seen.check(); err != nil {
		return errors.Join(err, work.Discard(ctx, attempt, o.pending))
	}
	r.Inputs, r.Applied, r.Verified = inner.Inputs, inner.Applied, inner.Verified
	for _, n := range inner.Notes {
		r.Note("%s", n)
	}
	for _, w := range inner.Warnings {
		r.warning("%s", w)
	}
	out := inner.Outputs[0]
	if err := work.Deliver(ctx, t, part, attempt, plan.Task{Bytes: out.Bytes, SHA256: out.SHA256, Upload: o.pending}); err != nil {
		return err
	}
	out.Path = source.Under(t.Path, work.FileName(t, part)) // where it will be
	r.Outputs = append(r.Outputs, out)
	return nil
}

// partOptions are those of a conversion that makes the part at the path attempt.
func partOptions(work *plan.Plan, t *plan.Target, part *plan.Part, attempt string, options PartOptions, r *Report) (*conversion, error) {
	var of Options
	d := json.NewDecoder(bytes.NewReader(work.Options))
	d.DisallowUnknownFields()
	if err := d.Decode(&of); err != nil {
		return nil, fault.New(fault.Malformed, "the options of the plan cannot be read: %v", err).WithHint("make it anew with idxport plan")
	}
	if !reflect.DeepEqual(of, of.ofParts()) {
		return nil, fault.New(fault.Malformed, "the plan has options that are none of a part").WithHint("make it anew with idxport plan")
	}
	of.Dataset, of.Outputs, of.Checksum, of.Verify = t.Dataset, []string{t.Format + "=" + attempt}, true, options.Verify
	of.Workers, of.Stdin, of.Stdout = options.Workers, bytes.NewReader(nil), io.Discard
	var args []dataset.Input
	for _, in := range t.Inputs {
		if in.Column != "" {
			args = append(args, dataset.Input{Path: in.Path, Name: in.Column})
			of.Inputs = append(of.Inputs, in.Path)
		}
	}
	o, err := newConversion(of, false, r)
	if err != nil {
		return nil, err
	}
	o.args, o.store, o.planID = args, work.Objects, work.ID
	if object.IsURL(attempt) {
		o.pending = new(object.PendingUpload)
	}
	o.rows = rowRange{given: true, first: part.First, last: part.Last}
	return o, nil
}

// A watch is where the inputs of a part are. What is read of files is hashed as it is read: what
// the part is made of is what was compared, even if somebody changes a file meanwhile. Objects are
// opened as the version that they were.
type watch struct {
	source.Files
	target *plan.Target
	part   *plan.Part

	mu    sync.Mutex
	whole map[int]bool // inputs, by index, of which the part's bytes were read, and were those of the plan
	wrong map[int]bool // likewise, and were not
}

// newWatch is the watch of a part of t.
func (o *inputs) newWatch(ctx context.Context, t *plan.Target, part *plan.Part) *watch {
	etags := map[string]string{}
	for _, in := range t.Inputs {
		etags[in.Path] = in.ETag
	}
	return &watch{Files: o.everywhere(ctx, etags), target: t, part: part, whole: map[int]bool{}, wrong: map[int]bool{}}
}

// Open opens a file, which is watched if it is an input; as each of them, if it is several.
func (w *watch) Open(name string) (source.File, error) {
	f, err := w.Files.Open(name)
	if err != nil {
		return nil, err
	}
	for i := range w.target.Inputs {
		in := &w.target.Inputs[i]
		if in.Path != name || !in.Hashed() {
			continue
		}
		seen := &watchedFile{File: f, watch: w, input: i, left: []*watched{newWatched(&w.part.Pieces[i])}}
		if in.Header != nil {
			seen.left = append(seen.left, newWatched(in.Header))
		}
		seen.compare()
		f = seen
	}
	return f, nil
}

// check is nil if all inputs were read, and were those of the plan.
func (w *watch) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, in := range w.target.Inputs {
		if in.Hashed() && (w.wrong[i] || !w.whole[i]) {
			return w.target.Changed(i, w.part)
		}
	}
	return nil
}

// A watched is a piece of a file that is hashed as it is read, which has to be in the order of its
// bytes.
type watched struct {
	*plan.Piece
	next int64 // the next byte to be hashed
	hash *xxh3.Hasher
}

func newWatched(piece *plan.Piece) *watched { return &watched{piece, piece.From, xxh3.New()} }

// see is told of bytes that were read at an offset.
func (w *watched) see(at int64, p []byte) {
	first, last := max(at, w.From), min(at+int64(len(p)), w.To)
	if first <= w.next && w.next < last {
		_, _ = w.hash.Write(p[w.next-at : last-at]) // a hash takes everything
		w.next = last
	}
}

// same reports whether the bytes, all of which were seen, are those of the plan.
func (w *watched) same() bool {
	sum := w.hash.Sum128().Bytes()
	return hex.EncodeToString(sum[:]) == w.XXH3
}

// A watchedFile hashes the pieces of the file that belong to a part, and its header.
type watchedFile struct {
	source.File
	watch *watch
	input int
	left  []*watched // those that were not all seen
	at    int64      // where the next byte is read
}

func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if len(f.left) > 0 && n > 0 {
		for _, w := range f.left {
			w.see(f.at, p[:n])
		}
		f.compare()
	}
	f.at += int64(n)
	return n, err
}

func (f *watchedFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.File.Seek(offset, whence)
	if err == nil {
		f.at = at
	}
	return at, err
}

// compare marks the file in the watch once a piece differs, or once all were seen.
func (f *watchedFile) compare() {
	done, same := 0, true
	f.left = slices.DeleteFunc(f.left, func(w *watched) bool {
		if w.next < w.To {
			return false
		}
		done++
		same = same && w.same()
		return true
	})
	if done == 0 {
		return
	}
	f.watch.mu.Lock()
	defer f.watch.mu.Unlock()
	switch {
	case !same:
		f.watch.wrong[f.input] = true
	case len(f.left) == 0:
		f.watch.whole[f.input] = true
	}
}
