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

// PartOptions are the options of a run that makes a part. Its bytes do not depend on them.
type PartOptions struct {
	Verify  bool
	Workers int
	Events  Events
}

// MakePart makes one part of a plan. Making a part twice, at once or later, is harmless: the report
// has no output then.
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
	if result, err := work.Told(ctx, t, part); err != nil {
		return r, err
	} else if result != nil {
		r.Note("part %d exists already", part.Index)
		return r, nil
	}
	err = makePart(ctx, work, t, part, options, r)
	if done, doneErr := work.Committed(ctx, t); doneErr == nil && done { // another attempt was faster
		work.Tidy(ctx, t)
		r.Note("%s is committed already", t.Path)
		return r, nil
	}
	if fault.KindOf(err) == fault.IO && errors.Is(err, fs.ErrNotExist) { // its folder was removed
		err = fault.New(fault.Refused, "part %d was aborted meanwhile", index).In(t.Path).WithHint("run the part again")
	}
	if object.IsURL(t.Path) && errors.Is(err, fault.Exists) {
		err = fault.New(fault.Exists, "it exists already").In(source.Under(t.Path, work.FileName(t, part))).
			WithHint("idxport commit completes a commit that was interrupted; or move the object away")
	}
	return r, err
}

// makePart makes a part under a temporary name and delivers it.
func makePart(ctx context.Context, work *plan.Plan, t *plan.Target, part *plan.Part, options PartOptions, r *Report) error {
	if err := t.CheckInputs(ctx, part); err != nil {
		return err
	}
	attempt, err := work.Attempt(t, part)
	if err != nil {
		return err
	}
	inner := NewReport(Events{Progress: options.Events.Progress}) // it names the attempt, which is of no interest
	o, err := partOptions(work, t, part, attempt, options, inner)
	if err != nil {
		return err
	}
	w := o.watch(ctx, t, part)
	if err := o.run(ctx); err != nil {
		return err
	}
	if err := w.check(); err != nil {
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
	out.Path = source.Under(t.Path, work.FileName(t, part)) // once it is committed
	r.Outputs = append(r.Outputs, out)
	return nil
}

// partOptions returns the conversion that makes a part at the path attempt.
func partOptions(work *plan.Plan, t *plan.Target, part *plan.Part, attempt string, options PartOptions, r *Report) (*conversion, error) {
	var of Options
	d := json.NewDecoder(bytes.NewReader(work.Options))
	d.DisallowUnknownFields()
	if err := d.Decode(&of); err != nil {
		return nil, fault.New(fault.Malformed, "the options of the plan cannot be read: %v", err).WithHint("make it again with idxport plan")
	}
	if !reflect.DeepEqual(of, of.ofParts()) {
		return nil, fault.New(fault.Malformed, "the plan has options that do not belong to parts").WithHint("make it again with idxport plan")
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

// A watch is the file system of a part's inputs. It hashes the bytes of files as they are read: so
// what the part is made of is what is compared with the plan, even if a file changes meanwhile.
// Objects are opened only in their planned version.
type watch struct {
	source.Files
	target *plan.Target
	part   *plan.Part

	mu   sync.Mutex
	same map[int]bool // by index of an input that was read: its bytes were those of the plan
}

// watch makes a conversion read its inputs through a watch.
func (o *conversion) watch(ctx context.Context, t *plan.Target, part *plan.Part) *watch {
	o.known.planned, o.known.etags = true, map[string]string{}
	for _, in := range t.Inputs {
		if in.ETag != "" {
			o.known.etags[in.Path] = in.ETag
		}
	}
	w := &watch{Files: storage{ctx, o.store, o.known}, target: t, part: part, same: map[int]bool{}}
	o.place = w
	return w
}

// Open opens a file, which is watched for each input that it is.
func (w *watch) Open(name string) (source.File, error) {
	f, err := w.Files.Open(name)
	if err != nil {
		return nil, err
	}
	for i, in := range w.target.Inputs {
		if in.Path != name || !in.Hashed() {
			continue
		}
		watched := &watchedFile{File: f, watch: w, input: i}
		for _, piece := range []*plan.Piece{&w.part.Pieces[i], in.Header} {
			if piece != nil {
				watched.left = append(watched.left, &watchedPiece{piece, piece.From, xxh3.New()})
			}
		}
		watched.see(nil) // pieces may be empty
		f = watched
	}
	return f, nil
}

// read records that all bytes of an input, or of a piece that differs, were read.
func (w *watch) read(input int, same bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, ok := w.same[input]
	w.same[input] = same && (before || !ok)
}

// check returns an error unless all inputs were read and were those of the plan.
func (w *watch) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, in := range w.target.Inputs {
		if in.Hashed() && !w.same[i] {
			return w.target.Changed(i, w.part)
		}
	}
	return nil
}

// A watchedFile hashes the pieces of a file that a part is made of, in the order of their bytes.
type watchedFile struct {
	source.File
	watch *watch
	input int
	left  []*watchedPiece // those not read to their end
	at    int64           // offset of the next Read
}

type watchedPiece struct {
	*plan.Piece
	next int64 // offset of the next byte to hash
	hash *xxh3.Hasher
}

func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.see(p[:n])
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

// see hashes the bytes p, which were read at f.at, and compares the pieces that end there.
func (f *watchedFile) see(p []byte) {
	if len(f.left) == 0 {
		return
	}
	f.left = slices.DeleteFunc(f.left, func(w *watchedPiece) bool {
		first, last := max(f.at, w.From), min(f.at+int64(len(p)), w.To)
		if first <= w.next && w.next < last {
			_, _ = w.hash.Write(p[w.next-f.at : last-f.at]) // a hash never fails
			w.next = last
		}
		if w.next < w.To {
			return false
		}
		sum := w.hash.Sum128().Bytes()
		if hex.EncodeToString(sum[:]) != w.XXH3 {
			f.watch.read(f.input, false)
		}
		return true
	})
	if len(f.left) == 0 {
		f.watch.read(f.input, true)
	}
}
