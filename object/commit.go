package object

import (
	"context"
	"crypto/md5" //nolint:gosec // S3 computes ETags with it
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/idxport/idxport/fault"
)

// A completion turns an upload, or bytes in memory, into a visible object, and recognises it.
type completion struct {
	PendingUpload // if it has no upload ID, data is sent in one request
	bucket        *bucket
	key           string
	replace       bool // replace an existing object
	data          []byte
}

// An occupant says what is at a key: nothing, the object that is to be put there, or another one.
type occupant int

const (
	absent occupant = iota // no object
	same                   // the object that was to be put there
	other                  // another object
)

// complete makes the object visible. If shared is set, another process may do so at the same time,
// so complete succeeds only if it finds the object.
func (c *completion) complete(ctx context.Context, shared bool) error {
	return c.bucket.retryUntil(ctx, func() (err error) {
		if c.Upload == "" {
			err = c.bucket.put(ctx, c.key, c.data, c.CRC32, c.replace)
		} else {
			err = c.bucket.finish(ctx, c.key, c.PendingUpload, c.replace)
		}
		if err == nil && shared {
			err = c.confirm(ctx, "the upload was completed, but no object exists")
		}
		return err
	}, func(err error) (bool, error) {
		if shared = shared || isTemporary(err); !shared {
			return false, nil
		}
		found, err := c.compare(ctx)
		return found == same, err
	})
}

// confirm fails unless the object exists. It is needed after a success, too: servers report success
// for an upload that was completed before, even if the object was replaced or removed since.
// problem begins the message if no object exists.
func (c *completion) confirm(ctx context.Context, problem string) error {
	switch found, err := c.compare(ctx); {
	case err != nil:
		return err
	case found == other:
		return failed(fault.Exists, "")
	case found == absent:
		return noUpload("%s (expected %d bytes in %d parts)", problem, c.Bytes, len(c.Parts))
	}
	return nil
}

// compare compares the object at the key with the one that c makes: by size, and by checksum or, if
// the storage has none, by ETag.
func (c *completion) compare(ctx context.Context) (occupant, error) {
	found, err := c.bucket.find(ctx, c.key)
	var e *fault.Error
	switch {
	case errors.Is(err, fault.NotFound):
		return absent, nil
	case errors.As(err, &e):
		unknown := *e
		unknown.Msg = "the last answer was lost or unclear, so the object may exist or not: " + e.Msg
		return absent, unknown.WithHint("check whether it exists; if it does, it is complete")
	case err != nil:
		return absent, err
	case found.size != c.Bytes,
		found.crc32 != "" && found.crc32 != c.CRC32,
		found.crc32 == "" && bareETag(found.etag) != c.etag():
		return other, nil
	}
	return same, nil
}

// etag returns the ETag of the object, unless it is encrypted with SSE-C or SSE-KMS: the MD5 of the
// content or, for an upload, the MD5 of the MD5s of the parts, a hyphen and the number of parts.
func (c *completion) etag() string {
	if c.Upload == "" {
		sum := md5.Sum(c.data) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}
	all := md5.New() //nolint:gosec // as above
	for _, p := range c.Parts {
		sum, err := hex.DecodeString(bareETag(p.ETag))
		if err != nil {
			return ""
		}
		all.Write(sum)
	}
	return fmt.Sprintf("%x-%d", all.Sum(nil), len(c.Parts))
}

// bareETag removes the quotes, which not every server sends.
func bareETag(etag string) string { return strings.Trim(etag, `"`) }
