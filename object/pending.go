package object

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
)

// maxLooks is how often Publish looks for the object of a missing upload. While another process
// publishes the upload, a server may for a moment have neither the upload nor the object.
const maxLooks = 3

// maxAborts is the number of concurrent aborts.
const maxAborts = 8

// completion returns the completion of u, an upload to the URL name, after checking it.
func (s *Store) completion(ctx context.Context, name string, u PendingUpload) (*completion, address, error) {
	b, a, err := s.bucketForKey(ctx, name)
	if err != nil {
		return nil, a, err
	}
	return &completion{bucket: b, key: a.key, PendingUpload: u}, a, errorAt(a, u.validate())
}

// Publish makes the object of a pending upload visible. If another object exists, it fails with
// fault.Exists and changes nothing. If the object was published before, it succeeds: so Publish may
// be repeated, and called by many processes at once. (If somebody else made an equal object, the
// upload remains for Abort.) If neither the upload nor the object exists, it fails with
// ErrNoUpload. If it is canceled, the next call finds out whether the object was published.
func (s *Store) Publish(ctx context.Context, name string, u PendingUpload) error {
	c, a, err := s.completion(ctx, name, u)
	if err == nil {
		err = c.publish(ctx)
	}
	return errorAt(a, writeError(err))
}

func (c *completion) publish(ctx context.Context) error {
	gone := c.complete(ctx, true)
	if !errors.Is(gone, ErrNoUpload) {
		return gone
	}
	for n := range maxLooks {
		if err := c.bucket.pause(ctx, n+1); err != nil {
			return err
		}
		if err := c.confirm(ctx, gone.Error()+", and the object does not exist"); !errors.Is(err, ErrNoUpload) || n == maxLooks-1 {
			return err
		}
	}
	return gone
}

// Check looks for what Publish needs. It returns nil if the upload exists with exactly these parts,
// if its object exists already, or if the object has no bytes. Without the upload it fails with
// fault.Exists if another object exists, and otherwise with ErrNoUpload.
func (s *Store) Check(ctx context.Context, name string, u PendingUpload) error {
	c, a, err := s.completion(ctx, name, u)
	if err == nil && u.Upload != "" {
		err = c.check(ctx)
	}
	return errorAt(a, writeError(err))
}

func (c *completion) check(ctx context.Context) error {
	wrong := "the upload no longer exists"
	parts, err := retried(ctx, c.bucket.Options, func() ([]Part, error) { return c.bucket.parts(ctx, c.key, c.Upload) })
	if err == nil {
		if wrong = difference(parts, c.Parts); wrong == "" {
			return nil
		}
	} else if !errors.Is(err, ErrNoUpload) {
		return err
	}
	return c.confirm(ctx, wrong)
}

// notRecorded begins messages about uploads with other parts.
const notRecorded = "the upload is not the one that was recorded: "

// difference describes how the parts in the storage differ from those expected; "" if they do not.
func difference(found, expected []Part) string {
	if len(found) != len(expected) {
		return notRecorded + fmt.Sprintf("found %d parts", len(found))
	}
	for i, want := range expected {
		p := found[i]
		if p.number != i+1 {
			return notRecorded + fmt.Sprintf("found part %d instead of part %d", p.number, i+1)
		}
		if p.Bytes != want.Bytes || bareETag(p.ETag) != bareETag(want.ETag) {
			return notRecorded + fmt.Sprintf("found part %d with %d bytes and the ETag %s, not %d bytes and %s", i+1, p.Bytes, scrub(bareETag(p.ETag)),
				want.Bytes, scrub(bareETag(want.ETag)))
		}
	}
	return ""
}

// Abort ends an upload and removes its parts. A missing upload is no error. An object that was
// published stays.
func (s *Store) Abort(ctx context.Context, name string, u PendingUpload) error {
	c, a, err := s.completion(ctx, name, u)
	if err == nil && u.Upload != "" {
		err = c.bucket.end(ctx, a.key, u.Upload)
	}
	return errorAt(a, writeError(err))
}

// end ends an upload. A part in transit may arrive after the first attempt, so end repeats it until
// the upload does not exist.
func (b *bucket) end(ctx context.Context, key, id string) error {
	err := b.retry(ctx, func() error {
		if err := b.abort(ctx, key, id); err != nil {
			return err
		}
		if _, err := b.parts(ctx, key, id); err != nil {
			return err
		}
		return temporary("the upload still exists")
	})
	if errors.Is(err, ErrNoUpload) {
		return nil
	}
	return err
}

// Sweep ends all uploads, of any process, to URLs with the given prefix; if ours is not nil, only
// the uploads to URLs for which ours returns true. End the prefix of a folder with a slash, because
// s3://b/out/train is also a prefix of s3://b/out/training/x. Some servers list only the uploads of
// a single key: there Sweep finds nothing, and Abort is necessary.
//
// After Sweep has ended uploads of a page, it lists the same page again. The next page would begin
// after an upload that no longer exists, and not every server can continue from there.
func (s *Store) Sweep(ctx context.Context, prefix string, ours func(name string) bool) error {
	b, a, err := s.bucketToWrite(ctx, prefix)
	if err != nil {
		return err
	}
	swept := map[string]bool{} // by upload ID
	var after uploadRef
	for {
		var page []uploadRef
		var next uploadRef
		err := b.retry(ctx, func() (err error) {
			page, next, err = b.uploads(ctx, a.key, after)
			return err
		})
		before := len(swept)
		var g errgroup.Group
		g.SetLimit(maxAborts)
		for _, u := range page {
			if strings.HasPrefix(u.key, a.key) && (ours == nil || ours(a.root()+u.key)) { // servers may ignore the prefix
				swept[u.id] = true
				g.Go(func() error { return b.end(ctx, u.key, u.id) })
			}
		}
		if err := errors.Join(err, g.Wait()); err != nil || next == (uploadRef{}) {
			return errorAt(a, writeError(err))
		}
		switch {
		case len(swept) > before:
		case next == after:
			return errorAt(a, noProgress())
		default:
			after = next
		}
	}
}
