package object

import (
	"context"
	"crypto/md5" //nolint:gosec // S3 makes its ETags of it
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/idxport/idxport/fault"
)

// A whole is an object whose bytes are all there, as the parts of an upload or in memory: what it
// takes to make it visible, and to recognise it when it is.
type whole struct {
	PendingUpload // without an upload, data is sent in one request
	bucket        *bucket
	key           string
	replace       bool
	data          []byte
}

// A conflict describes the object under a key, compared with the one that is to be put there.
type conflict int

const (
	absent conflict = iota // nothing is there
	same                   // the very object
	other                  // another one
)

// appear makes the object visible; doubt says that another process may have done so, and then the
// object itself is the only proof.
func (w *whole) appear(ctx context.Context, doubt bool) error {
	return w.bucket.settle(ctx, func() (err error) {
		if w.Upload == "" {
			err = w.bucket.put(ctx, w.key, w.data, w.CRC32, w.replace)
		} else {
			err = w.bucket.finish(ctx, w.key, w.PendingUpload, w.replace)
		}
		if err == nil && doubt {
			err = w.confirm(ctx, "it was completed")
		}
		return err
	}, func(err error) (bool, error) {
		if doubt = doubt || passing(err); !doubt {
			return false, nil
		}
		found, err := w.look(ctx)
		return found == same, err
	})
}

// confirm demands that the object is there, after a success, too: servers answer so for an upload that
// was completed before, whatever has become of the object since. If it is not, upload says what was
// found of the upload.
func (w *whole) confirm(ctx context.Context, upload string) error {
	switch found, err := w.look(ctx); {
	case err != nil:
		return err
	case found == other:
		return failed(fault.Exists, "")
	case found == absent:
		return noUpload("found that %s, expected %d bytes in %d parts", upload, w.Bytes, len(w.Parts))
	}
	return nil
}

// look finds out whether the object under the key is this one: by its size, and by its checksum or
// else its ETag.
func (w *whole) look(ctx context.Context) (conflict, error) {
	there, err := w.bucket.find(ctx, w.key)
	var e *fault.Error
	switch {
	case errors.Is(err, fault.NotFound):
		return absent, nil
	case errors.As(err, &e):
		unknown := *e
		unknown.Msg = "the last answer was lost or left it open, and so it is not known whether the object is there: " + e.Msg
		return absent, unknown.WithHint("look whether it is there; if it is, it is whole")
	case err != nil:
		return absent, err
	case there.size != w.Bytes:
		return other, nil
	}
	is := bareETag(there.etag) == w.etag()
	if there.crc32 != "" {
		is = there.crc32 == w.CRC32
	}
	if is {
		return same, nil
	}
	return other, nil
}

// etag is what S3 calls the object where it is not encrypted with a key of its own: the MD5 of its
// content, or that of the MD5s of its parts with their number behind.
func (w *whole) etag() string {
	if w.Upload == "" {
		sum := md5.Sum(w.data) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}
	all := md5.New() //nolint:gosec // as above
	for _, p := range w.Parts {
		sum, err := hex.DecodeString(bareETag(p.ETag))
		if err != nil {
			return ""
		}
		all.Write(sum)
	}
	return fmt.Sprintf("%x-%d", all.Sum(nil), len(w.Parts))
}

// bareETag is an ETag without the quotes, which not every answer has.
func bareETag(etag string) string { return strings.Trim(etag, `"`) }
