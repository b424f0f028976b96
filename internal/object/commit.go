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
	upload
	client  *client
	key     string
	replace bool   // replace an existing object
	data    []byte // of an upload without an ID
}

// complete makes the object visible. If an answer is lost, it looks for the object. Otherwise an
// object of another run with the same bytes would pass for the one of this run.
func (c *completion) complete(ctx context.Context) (err error) {
	sent := 0
	if c.id == "" {
		sent, err = c.client.put(ctx, c.key, c.data, c.crc32, c.replace)
	} else {
		sent, err = c.client.finish(ctx, c.key, c.upload, c.replace)
	}
	if err == nil || sent <= 1 && !errors.Is(err, fault.IO) {
		return err
	}
	if ok, checkErr := c.exists(ctx); ok || checkErr != nil {
		return checkErr
	}
	return err
}

// exists reports whether the object at the key is the one that c makes: by size, and by checksum
// or, if the storage has none, by ETag.
func (c *completion) exists(ctx context.Context) (bool, error) {
	found, err := c.client.head(ctx, c.key)
	var e *fault.Error
	switch {
	case errors.Is(err, fault.NotFound):
		return false, nil
	case errors.As(err, &e):
		unknown := *e
		unknown.Msg = "the last answer was lost or unclear, so the object may exist or not: " + e.Msg
		return false, unknown.WithHint("check whether it exists; if it does, it is complete")
	case err != nil:
		return false, err
	case found.crc32 != "":
		return found.size == c.bytes && found.crc32 == c.upload.crc32, nil
	}
	return found.size == c.bytes && bareETag(found.etag) == c.etag(), nil
}

// etag returns the ETag of the object, unless it is encrypted with SSE-C or SSE-KMS: the MD5 of the
// content or, for an upload, the MD5 of the MD5s of the parts, a hyphen and the number of parts.
func (c *completion) etag() string {
	if c.id == "" {
		sum := md5.Sum(c.data) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}
	all := md5.New() //nolint:gosec // as above
	for _, p := range c.parts {
		sum, err := hex.DecodeString(bareETag(p.etag))
		if err != nil {
			return ""
		}
		all.Write(sum)
	}
	return fmt.Sprintf("%x-%d", all.Sum(nil), len(c.parts))
}

// bareETag removes the quotes, which not every server sends.
func bareETag(etag string) string { return strings.Trim(etag, `"`) }
