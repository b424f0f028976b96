//go:build !lean

package object

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

// lastLooks is how often it is looked for an object whose upload is gone: while another process publishes it, a server may have neither for a moment.
const lastLooks = 3

// sweeps is how many uploads are ended at a time.
const sweeps = 8

// hold sends what is left, as a part however short it is, and waits for all parts.
func (u *s3Upload) hold() (Receipt, error) {
	if u.id == "" && u.size > 0 {
		if err := u.send(); err != nil {
			return Receipt{}, err
		}
	}
	if err := u.complete(); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Upload: u.id, Bytes: u.size, CRC32: checksum(u.sum.Sum32())}
	for i, p := range u.parts {
		r.Parts = append(r.Parts, ReceiptPart{ETag: aws.ToString(p.ETag), CRC32: aws.ToString(p.ChecksumCRC32), Bytes: u.lengths[i]})
	}
	return r, nil
}

// wholeOf is what a receipt says of an object. The storage compares the checksum of the whole if it did so with the parts.
func (b *s3Bucket) wholeOf(key string, r Receipt, o Options) *whole {
	w := &whole{bucket: b, key: key, options: o, id: r.Upload, size: r.Bytes, checksum: r.CRC32, checksums: b.checksums}
	if len(r.Parts) > 0 {
		w.checksums = r.Parts[0].CRC32 != ""
	}
	for i, p := range r.Parts {
		part := types.CompletedPart{PartNumber: aws.Int32(int32(i + 1)), ETag: aws.String(p.ETag)}
		if p.CRC32 != "" {
			part.ChecksumCRC32 = aws.String(p.CRC32)
		}
		w.parts = append(w.parts, part)
	}
	return w
}

func (b *s3Bucket) publish(ctx context.Context, key string, r Receipt, o Options) error {
	w := b.wholeOf(key, r, o)
	err := w.appear(ctx, true)
	if !errors.Is(err, ErrNoUpload) {
		return err
	}
	for n := range lastLooks {
		if err := o.pause(ctx, n+1); err != nil {
			return err
		}
		found, err := w.look(ctx)
		switch {
		case err != nil:
			return err
		case found == same:
			return nil
		case found == other:
			return &failure{kind: ErrExists}
		}
	}
	var f *failure
	errors.As(err, &f)
	return noUpload("the server says "+f.text+" and no object is there", r)
}

// noUpload is the failure of a receipt for which there is nothing.
func noUpload(found string, r Receipt) error {
	return &failure{kind: ErrNoUpload, text: fmt.Sprintf("found that %s, expected %d bytes in %d parts", found, r.Bytes, len(r.Parts))}
}

func (b *s3Bucket) holds(ctx context.Context, key string, r Receipt, o Options) error {
	if r.Upload == "" {
		return nil
	}
	parts, err := b.listParts(ctx, key, r.Upload, o)
	if err != nil && !errors.Is(err, ErrNoUpload) {
		return err
	}
	wrong := "the upload is gone"
	if err == nil {
		if wrong = unlike(parts, r.Parts); wrong == "" {
			return nil
		}
	}
	found, err := b.wholeOf(key, r, o).look(ctx)
	switch {
	case err != nil:
		return err
	case found == same:
		return nil
	case found == other:
		return &failure{kind: ErrExists, text: "another object is there, and " + wrong, hint: "move it away"}
	}
	return noUpload(wrong, r)
}

// unlike tells where the parts in the storage are not those of a receipt; empty: nowhere.
func unlike(found []types.Part, expected []ReceiptPart) string {
	if len(found) != len(expected) {
		return fmt.Sprintf("the upload has %d parts", len(found))
	}
	for i, want := range expected {
		p := found[i]
		if aws.ToInt32(p.PartNumber) != int32(i+1) {
			return fmt.Sprintf("the upload has part %d in place of %d", aws.ToInt32(p.PartNumber), i+1)
		}
		if aws.ToInt64(p.Size) != want.Bytes || bareETag(aws.ToString(p.ETag)) != bareETag(want.ETag) {
			return fmt.Sprintf("part %d has %d bytes and the ETag %s in place of %d bytes and %s", i+1, aws.ToInt64(p.Size), scrub(bareETag(aws.ToString(p.ETag))),
				want.Bytes, scrub(bareETag(want.ETag)))
		}
	}
	return ""
}

// drop ends an upload. A part that was on its way may arrive after the first attempt, so it looks until there is no such upload.
func (b *s3Bucket) drop(ctx context.Context, key, id string, o Options) error {
	err := o.retry(ctx, func() error {
		err := request(ctx, o, func(ctx context.Context, _ *watch) error {
			_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: &key, UploadId: &id})
			return err
		})
		if err != nil {
			return err
		}
		err = request(ctx, o, func(ctx context.Context, _ *watch) error {
			_, err := b.client.ListParts(ctx, &s3.ListPartsInput{Bucket: &b.name, Key: &key, UploadId: &id})
			return err
		})
		if err == nil {
			return &failure{kind: ErrTransfer, text: "the upload is still there", again: true}
		}
		return err
	})
	if errors.Is(err, ErrNoUpload) {
		return nil
	}
	return err
}

// sweep asks for a page of uploads again as long as it has ended some of it: what was ended is on no page any more, and not every server finds the next one.
func (b *s3Bucket) sweep(ctx context.Context, prefix string, ours func(key string) bool, o Options) error {
	ended := map[string]bool{} // by id
	var at pageMark
	for {
		uploads, next, err := b.listUploads(ctx, prefix, at, o)
		if err != nil {
			return err
		}
		before := len(ended)
		var g errgroup.Group
		g.SetLimit(sweeps)
		for _, u := range uploads {
			key, id := aws.ToString(u.Key), aws.ToString(u.UploadId)
			if ours(key) {
				ended[id] = true
				g.Go(func() error { return b.drop(ctx, key, id, o) })
			}
		}
		if err := g.Wait(); err != nil || next == (pageMark{}) {
			return err
		}
		switch {
		case len(ended) > before:
		case next == at:
			return endless()
		default:
			at = next
		}
	}
}
