package object

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
)

// A Receipt is an upload that is whole in its storage, but not seen yet: what another process needs to make it seen. It is written as JSON into files of
// plans, so its fields do not change. It holds no secret: what it allows, whoever may write to the bucket may do.
type Receipt struct {
	Upload string        `json:"upload,omitempty"` // as the storage calls it; empty: the object has no bytes, and nothing was sent
	Bytes  int64         `json:"bytes"`
	CRC32  string        `json:"crc32"` // of the whole, as S3 writes it: base64 of four bytes, big-endian
	Parts  []ReceiptPart `json:"parts,omitempty"`
}

// A ReceiptPart is a part of an upload, which are numbered from 1 in their order.
type ReceiptPart struct {
	ETag  string `json:"etag"`            // as the storage answered
	CRC32 string `json:"crc32,omitempty"` // as the storage answered; empty if it was not asked
	Bytes int64  `json:"bytes"`
}

// check tells what is wrong with a receipt, before anything is done with it.
func (r Receipt) check() error {
	wrong := func(format string, args ...any) error {
		return &failure{kind: ErrReceipt, text: fmt.Sprintf(format, args...)}
	}
	if sum, err := base64.StdEncoding.DecodeString(r.CRC32); err != nil || len(sum) != 4 {
		return wrong("found no CRC-32 of the whole, expected the base64 of 4 bytes")
	}
	if r.Upload == "" && (r.Bytes != 0 || len(r.Parts) > 0) {
		return wrong("found no upload, expected one for %d bytes in %d parts", r.Bytes, len(r.Parts))
	}
	var bytes int64
	for i, p := range r.Parts {
		if p.Bytes <= 0 || p.ETag == "" {
			return wrong("found part %d with %d bytes and the ETag %q, expected both", i+1, p.Bytes, scrub(p.ETag))
		}
		bytes += p.Bytes
	}
	if bytes != r.Bytes || r.Upload != "" && len(r.Parts) == 0 {
		return wrong("found %d bytes in %d parts, expected %d in one or more", bytes, len(r.Parts), r.Bytes)
	}
	return nil
}

// A holder is a bucket whose uploads another process can make seen. Its methods have patience, unlike those of a bucket.
type holder interface {
	publish(ctx context.Context, key string, r Receipt, o Options) error
	holds(ctx context.Context, key string, r Receipt, o Options) error
	drop(ctx context.Context, key, id string, o Options) error
	sweep(ctx context.Context, prefix string, ours func(key string) bool, o Options) error
}

// A heldUpload is an upload that may stay as it is when this process ends.
type heldUpload interface {
	hold() (Receipt, error)
}

// cannotHold is the failure of a storage that shows what it has.
func cannotHold() error {
	return &failure{kind: ErrHold, text: "only S3 keeps what is whole but not seen", hint: "name an s3:// URL, or a folder that all processes share"}
}

// Hold is Complete, and leaves the upload as it is for whoever has the receipt: nothing is seen until Store.Publish, in this process or in another. After it,
// nothing may be written, and Discard has no effect. It does not matter whether the object may be replaced: Publish never does. Where Store.CanHold is an
// error Hold is too, and the Writer is as before.
func (w *Writer) Hold() (Receipt, error) {
	if w.ended {
		return Receipt{}, errors.Join(w.err, fs.ErrClosed)
	}
	up, ok := w.upload.(heldUpload)
	if !ok {
		return Receipt{}, errorAt(w.address, cannotHold())
	}
	if w.err != nil {
		return Receipt{}, w.err
	}
	r, err := up.hold()
	if err := w.fail(err); err != nil {
		return Receipt{}, err
	}
	w.ended = true
	return r, nil
}

// CanHold tells whether objects called so can be held: it is an error that wraps ErrHold if not. It asks the storage nothing.
func (s *Store) CanHold(ctx context.Context, name string) error {
	_, _, _, err := s.reachHolder(ctx, name)
	return err
}

// Publish makes an object seen under its key, whole, and never replaces another: that is ErrExists. If the very object is there already, all is well, so
// Publish may be called again after an answer that was lost, and by many processes at once. (If somebody else has put the same bytes there, the upload is left
// for Drop.) With neither the upload nor the object it is ErrNoUpload. The context ends it at any time; what became of it, the next call finds out.
func (s *Store) Publish(ctx context.Context, name string, r Receipt) error {
	return s.withReceipt(ctx, name, r, func(h holder, key string, o Options) error { return h.publish(ctx, key, r, o) })
}

// Holds tells whether Publish can succeed, as far as the upload goes: it is there with exactly the parts of the receipt, or the very object is there already.
// Otherwise it is ErrNoUpload, with what was found and expected. An object without bytes has no upload that could be lost.
func (s *Store) Holds(ctx context.Context, name string, r Receipt) error {
	return s.withReceipt(ctx, name, r, func(h holder, key string, o Options) error { return h.holds(ctx, key, r, o) })
}

// Drop ends the upload and removes its parts. One that is not there any more is fine, and so is an object that was published: it stays.
func (s *Store) Drop(ctx context.Context, name string, r Receipt) error {
	return s.withReceipt(ctx, name, r, func(h holder, key string, o Options) error {
		if r.Upload == "" {
			return nil
		}
		return h.drop(ctx, key, r.Upload, o)
	})
}

// Sweep ends uploads, whoever began them, of objects whose URL begins with prefix, letter by letter: s3://b/out/train has s3://b/out/training/x too, so that of a folder ends with a
// slash. It ends those whose URLs are ours, or all if ours is nil. A server that lists no uploads below a prefix (some list those of one key only) has nothing to end: Drop is sure.
func (s *Store) Sweep(ctx context.Context, prefix string, ours func(name string) bool) error {
	h, a, o, err := s.reachHolder(ctx, prefix)
	if err != nil {
		return err
	}
	return errorAt(a, toWrite(h.sweep(ctx, a.key, func(key string) bool { return ours == nil || ours(a.root()+key) }, o)))
}

// withReceipt calls f with what it needs, if the receipt is one and the storage can hold.
func (s *Store) withReceipt(ctx context.Context, name string, r Receipt, f func(h holder, key string, o Options) error) error {
	h, a, o, err := s.reachHolder(ctx, name)
	if err != nil {
		return err
	}
	if err := a.needsKey(); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return errorAt(a, err)
	}
	return errorAt(a, toWrite(f(h, a.key, o)))
}

// reachHolder is reach for a storage that can hold.
func (s *Store) reachHolder(ctx context.Context, name string) (holder, address, Options, error) {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return nil, a, o, err
	}
	h, ok := b.(holder)
	if !ok {
		return nil, a, o, errorAt(a, cannotHold())
	}
	return h, a, o, nil
}
