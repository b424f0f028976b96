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
		err := o.ask(ctx, func(ctx context.Context, _ *watch) (err error) {
			out, err = b.client.ListParts(ctx, in)
			return err
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

// A pageMark is where a page of uploads begins: behind this one. Its zero value is the first page.
type pageMark struct{ key, id string }

// listUploads are a page of the uploads of keys that begin with prefix, and where the next one begins; none: it is the last.
func (b *s3Bucket) listUploads(ctx context.Context, prefix string, at pageMark, o Options) (uploads []types.MultipartUpload, next pageMark, err error) {
	in := &s3.ListMultipartUploadsInput{Bucket: &b.name, Prefix: &prefix}
	if at != (pageMark{}) {
		in.KeyMarker, in.UploadIdMarker = &at.key, &at.id
	}
	var out *s3.ListMultipartUploadsOutput
	err = o.ask(ctx, func(ctx context.Context, _ *watch) (err error) {
		out, err = b.client.ListMultipartUploads(ctx, in)
		return err
	})
	if err != nil {
		return nil, next, err
	}
	for _, u := range out.Uploads {
		if strings.HasPrefix(aws.ToString(u.Key), prefix) { // not every server looks at the prefix
			uploads = append(uploads, u)
		}
	}
	if aws.ToBool(out.IsTruncated) {
		next = pageMark{aws.ToString(out.NextKeyMarker), aws.ToString(out.NextUploadIdMarker)}
		if next == (pageMark{}) && len(out.Uploads) > 0 { // some say it by the last upload alone
			last := out.Uploads[len(out.Uploads)-1]
			next = pageMark{aws.ToString(last.Key), aws.ToString(last.UploadId)}
		}
	}
	return uploads, next, nil
}
