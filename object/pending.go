package object

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
)

// lastLooks is how often it is looked for an object whose upload is gone: while another process
// publishes it, a server may have neither for a moment.
const lastLooks = 3

// sweeps is how many uploads are ended at a time.
const sweeps = 8

// pending returns the bucket of a pending upload of the object called name, and what it is to become.
func (s *Store) pending(ctx context.Context, name string, u PendingUpload) (*whole, address, error) {
	b, a, err := s.reachKey(ctx, name)
	if err != nil {
		return nil, a, err
	}
	return &whole{bucket: b, key: a.key, PendingUpload: u}, a, errorAt(a, u.valid())
}

// Publish makes an object visible under its key, whole, and never replaces another: that is
// fault.Exists. If the very object is there already, all is well, so Publish may be called again after
// an answer that was lost, and by many processes at once. (If somebody else has put the same bytes
// there, the upload is left for Abort.) With neither the upload nor the object it is ErrNoUpload. The
// context ends it at any time; what became of it, the next call finds out.
func (s *Store) Publish(ctx context.Context, name string, u PendingUpload) error {
	w, a, err := s.pending(ctx, name, u)
	if err == nil {
		err = w.publish(ctx)
	}
	return errorAt(a, toWrite(err))
}

func (w *whole) publish(ctx context.Context) error {
	gone := w.appear(ctx, true)
	if !errors.Is(gone, ErrNoUpload) {
		return gone
	}
	for n := range lastLooks {
		if err := w.bucket.pause(ctx, n+1); err != nil {
			return err
		}
		if err := w.confirm(ctx, "no object is there, and the server says that "+gone.Error()); !errors.Is(err, ErrNoUpload) || n == lastLooks-1 {
			return err
		}
	}
	return gone
}

// Check finds out whether Publish can succeed, as far as the upload goes: it is there with exactly
// these parts, or the very object is there already. Otherwise it is ErrNoUpload, with what was found
// and expected. An object without bytes has no upload that could be lost.
func (s *Store) Check(ctx context.Context, name string, u PendingUpload) error {
	w, a, err := s.pending(ctx, name, u)
	if err == nil && u.Upload != "" {
		err = w.check(ctx)
	}
	return errorAt(a, toWrite(err))
}

func (w *whole) check(ctx context.Context) error {
	wrong := "the upload is gone"
	parts, err := retried(ctx, w.bucket.Options, func() ([]Part, error) { return w.bucket.parts(ctx, w.key, w.Upload) })
	if err == nil {
		if wrong = unlike(parts, w.Parts); wrong == "" {
			return nil
		}
	} else if !errors.Is(err, ErrNoUpload) {
		return err
	}
	return w.confirm(ctx, wrong)
}

// unlike says where the parts in the storage are not those that are expected; empty: nowhere.
func unlike(found, expected []Part) string {
	if len(found) != len(expected) {
		return fmt.Sprintf("the upload has %d parts", len(found))
	}
	for i, want := range expected {
		p := found[i]
		if p.number != i+1 {
			return fmt.Sprintf("the upload has part %d in place of %d", p.number, i+1)
		}
		if p.Bytes != want.Bytes || bareETag(p.ETag) != bareETag(want.ETag) {
			return fmt.Sprintf("part %d has %d bytes and the ETag %s in place of %d bytes and %s", i+1, p.Bytes, scrub(bareETag(p.ETag)),
				want.Bytes, scrub(bareETag(want.ETag)))
		}
	}
	return ""
}

// Abort ends the upload and removes its parts. One that is not there any more is fine, and so is an
// object that was published: it stays.
func (s *Store) Abort(ctx context.Context, name string, u PendingUpload) error {
	w, a, err := s.pending(ctx, name, u)
	if err == nil && u.Upload != "" {
		err = w.bucket.end(ctx, a.key, u.Upload)
	}
	return errorAt(a, toWrite(err))
}

// end ends an upload. A part that was on its way may arrive after the first attempt, so it looks
// until there is no such upload.
func (b *bucket) end(ctx context.Context, key, id string) error {
	err := b.retry(ctx, func() error {
		if err := b.abort(ctx, key, id); err != nil {
			return err
		}
		if _, err := b.parts(ctx, key, id); err != nil {
			return err
		}
		return again("the upload is still there")
	})
	if errors.Is(err, ErrNoUpload) {
		return nil
	}
	return err
}

// Sweep ends uploads, whoever began them, of objects whose URL begins with prefix, letter by letter:
// s3://b/out/train has s3://b/out/training/x too, so that of a folder ends with a slash. It ends those
// whose URLs are ours, or all if ours is nil. A server that lists no uploads below a prefix (some list
// those of one key only) has nothing to end: Abort is sure.
//
// It asks for a page again as long as it has ended some of it: what was ended is on no page any more,
// and not every server finds the next one.
func (s *Store) Sweep(ctx context.Context, prefix string, ours func(name string) bool) error {
	b, a, err := s.reach(ctx, prefix)
	if err != nil {
		return err
	}
	swept := map[string]bool{} // by id
	var after mark
	for {
		var page []mark
		var next mark
		err := b.retry(ctx, func() (err error) {
			page, next, err = b.uploads(ctx, a.key, after)
			return err
		})
		before := len(swept)
		var g errgroup.Group
		g.SetLimit(sweeps)
		for _, u := range page {
			if strings.HasPrefix(u.key, a.key) && (ours == nil || ours(a.root()+u.key)) { // not every server looks at the prefix
				swept[u.id] = true
				g.Go(func() error { return b.end(ctx, u.key, u.id) })
			}
		}
		if err := errors.Join(err, g.Wait()); err != nil || next == (mark{}) {
			return errorAt(a, toWrite(err))
		}
		switch {
		case len(swept) > before:
		case next == after:
			return errorAt(a, endless())
		default:
			after = next
		}
	}
}
