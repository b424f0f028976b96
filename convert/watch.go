package convert

import (
	"context"
	"encoding/hex"
	"slices"
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

// A watched is a piece of a file that is hashed as it is read, which has to be in the order of its bytes.
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

// same tells whether the bytes, all of which were seen, are those of the plan.
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

// compare tells the watch of pieces that were seen, and of the file once all were.
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
