//go:build !lean

package object

import (
	"context"
	"net/url"
)

// open reaches a bucket. The credentials are those that the kit of the cloud finds by itself.
func open(ctx context.Context, a address, q url.Values) (bucket, error) {
	switch a.scheme {
	case "s3":
		return openS3(ctx, a.bucket, q)
	case "gs":
		return openGS(ctx, a.bucket, q)
	case "azblob":
		return openAzblob(ctx, a.bucket, q)
	}
	return openFiles()
}
