//go:build gs && !lean

package object

import (
	"context"
	"net/url"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // the driver
)

// openGS opens a bucket of Google Cloud Storage.
func openGS(ctx context.Context, name string, q url.Values) (bucket, error) {
	b, err := blob.OpenBucket(ctx, "gs://"+name+"?"+q.Encode())
	if err != nil {
		return nil, kitFailure(err)
	}
	return &kit{bucket: b, tag: func(a *blob.Attributes) string {
		var attrs storage.ObjectAttrs
		if a.As(&attrs) {
			return strconv.FormatInt(attrs.Generation, 10)
		}
		return ""
	}, demand: func(version identity, as func(any) bool) {
		var handle **storage.ObjectHandle
		generation, err := strconv.ParseInt(version.etag, 10, 64)
		if err == nil && as(&handle) {
			*handle = (*handle).If(storage.Conditions{GenerationMatch: generation})
		}
	}}, nil
}
