package main

import (
	"context"
	"encoding/hex"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
)

// A watch is where the inputs of a part are. What is read of files is hashed as it is read: what the part is made of is what was compared, even if somebody
// changes a file meanwhile. Objects are opened as the version that they were.
type watch struct {
	source.Files
	target *plan.Target
	part   *plan.Part

	mu    sync.Mutex
	whole map[int]bool // inputs, by index, of which the part's bytes were read, and were those of the plan
	wrong map[int]bool // likewise, and were not
}

// newWatch is the watch of a part of t.
func (o *inputOptions) newWatch(ctx context.Context, t *plan.Target, part *plan.Part) *watch {
	etags := map[string]string{}
	for _, in := range t.Inputs {
		etags[in.Path] = in.ETag
	}
	return &watch{Files: &versions{everywhere{ctx, o.objects, o.opened}, etags}, target: t, part: part, whole: map[int]bool{}, wrong: map[int]bool{}}
}

// Open opens a file, which is watched if it is an input.
func (w *watch) Open(name string) (source.File, error) {
	f, err := w.Files.Open(name)
	if err != nil {
		return nil, err
	}
	for i := range w.target.Inputs {
		in := &w.target.Inputs[i]
		if in.Path == name && in.Hashed() {
			piece := w.part.Pieces[i]
			seen := &watchedFile{File: f, watch: w, input: i, from: piece.From, end: piece.To, next: piece.From, hash: xxh3.New()}
			seen.compare()
			return seen, nil
		}
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

// A watchedFile hashes the bytes from one offset to another as they are read, which has to be in their order.
type watchedFile struct {
	source.File
	watch     *watch
	input     int
	from, end int64
	at, next  int64 // where the next byte is read, and the next to be hashed
	hash      *xxh3.Hasher
}

func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	first, last := max(f.at, f.from), min(f.at+int64(n), f.end)
	if first < last && first == f.next {
		_, _ = f.hash.Write(p[first-f.at : last-f.at]) // a hash takes everything
		f.next = last
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

// compare tells the watch, once all bytes are hashed.
func (f *watchedFile) compare() {
	if f.next < f.end {
		return
	}
	sum := f.hash.Sum128().Bytes()
	f.watch.mu.Lock()
	defer f.watch.mu.Unlock()
	if hex.EncodeToString(sum[:]) == f.watch.part.Pieces[f.input].XXH3 {
		f.watch.whole[f.input] = true
	} else {
		f.watch.wrong[f.input] = true
	}
}
