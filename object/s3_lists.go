//go:build !lean

package object

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// listParts are all parts of an upload, in their order.
func (b *s3Bucket) listParts(ctx context.Context, key, id string, o Options) (parts []types.Part, err error) {
	in := &s3.ListPartsInput{Bucket: &b.name, Key: &key, UploadId: &id}
	for {
		var out *s3.ListPartsOutput
		err := o.retry(ctx, func() error {
			return request(ctx, o, func(ctx context.Context, _ *watch) (err error) {
				out, err = b.client.ListParts(ctx, in)
				return err
			})
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, out.Parts...)
		if !aws.ToBool(out.IsTruncated) {
			return parts, nil
		}
		if aws.ToString(out.NextPartNumberMarker) == aws.ToString(in.PartNumberMarker) {
			return nil, endless()
		}
		in.PartNumberMarker = out.NextPartNumberMarker
	}
}

// endless is the failure of a list whose next page is the one that was given.
func endless() error {
	return &failure{kind: ErrTransfer, text: "found a list whose pages do not advance", hint: "check the server's ?endpoint= and what it supports"}
}

// listUploads are the first page of the uploads of keys that begin with prefix, and whether there are more.
func (b *s3Bucket) listUploads(ctx context.Context, prefix string, o Options) (uploads []types.MultipartUpload, more bool, err error) {
	var out *s3.ListMultipartUploadsOutput
	err = o.retry(ctx, func() error {
		return request(ctx, o, func(ctx context.Context, _ *watch) (err error) {
			out, err = b.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &b.name, Prefix: &prefix})
			return err
		})
	})
	if err != nil {
		return nil, false, err
	}
	for _, u := range out.Uploads {
		if strings.HasPrefix(aws.ToString(u.Key), prefix) { // not every server looks at the prefix
			uploads = append(uploads, u)
		}
	}
	return uploads, aws.ToBool(out.IsTruncated), nil
}
