//go:build !lean

package object

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // S3 makes its ETags of it
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// commitStalls is how many times longer than others the last request may take: the storage puts the parts together meanwhile.
const commitStalls = 10

// A whole is an object whose bytes are all there, as the parts of an upload or in memory: what it takes to make it seen, and to know it when it is.
type whole struct {
	bucket    *s3Bucket
	key       string
	overwrite bool
	options   Options
	id        string // of the upload; empty: data is sent in one request
	parts     []types.CompletedPart
	data      []byte
	size      int64
	checksum  string // CRC-32 as S3 writes it
	checksums bool   // the storage is asked to compare them
}

// commit makes the object seen. It goes on when the context of the run has ended, so that its outcome is known.
func (u *s3Upload) commit() error {
	w := &whole{bucket: u.bucket, key: u.key, overwrite: u.overwrite, options: u.options, id: u.id, parts: u.parts, data: u.buffer, size: u.size,
		checksum: checksum(u.sum.Sum32()), checksums: u.bucket.checksums}
	return w.appear(context.WithoutCancel(u.parent), false)
}

// appear makes the object seen; doubt says that another process may have done so, and then the object itself is the only proof.
func (w *whole) appear(ctx context.Context, doubt bool) error {
	send := w.finish
	if w.id == "" {
		send = w.put
	}
	o := w.options
	o.Stall *= commitStalls
	return o.settle(ctx, doubt, func() error {
		err := request(ctx, o, send)
		if err == nil && doubt {
			err = w.confirm(ctx)
		}
		return err
	}, func() (standing, error) { return w.look(ctx) })
}

// confirm looks for the object after a success: servers answer so, too, for an upload that was completed before, whatever has become of the object since.
func (w *whole) confirm(ctx context.Context) error {
	switch found, err := w.look(ctx); {
	case err != nil:
		return err
	case found == other:
		return &failure{kind: ErrExists}
	case found == absent:
		return &failure{kind: ErrNoUpload, text: "that it was completed"}
	}
	return nil
}

// put sends the object.
func (w *whole) put(ctx context.Context, watch *watch) error {
	in := &s3.PutObjectInput{Bucket: &w.bucket.name, Key: &w.key, ContentType: aws.String(contentType), ContentLength: aws.Int64(w.size),
		Body: watchedBody{bytes.NewReader(w.data), watch}}
	if w.checksums {
		in.ChecksumCRC32 = aws.String(w.checksum)
	}
	if !w.overwrite {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := w.bucket.client.PutObject(ctx, in)
	return err
}

// finish makes an object of the parts, whose checksum the storage compares.
func (w *whole) finish(ctx context.Context, _ *watch) error {
	in := &s3.CompleteMultipartUploadInput{Bucket: &w.bucket.name, Key: &w.key, UploadId: &w.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: w.parts}}
	if w.checksums {
		in.ChecksumType, in.ChecksumCRC32, in.MpuObjectSize = types.ChecksumTypeFullObject, aws.String(w.checksum), aws.Int64(w.size)
	}
	if !w.overwrite {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := w.bucket.client.CompleteMultipartUpload(ctx, in)
	return err
}

// checksum is a CRC-32 as S3 writes it.
func checksum(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// look tells whether the object under the key is this one: by its size, and by its checksum or else its ETag.
func (w *whole) look(ctx context.Context) (standing, error) {
	var out *s3.HeadObjectOutput
	err := w.options.ask(ctx, func(ctx context.Context, _ *watch) (err error) {
		in := &s3.HeadObjectInput{Bucket: &w.bucket.name, Key: &w.key}
		if w.checksums {
			in.ChecksumMode = types.ChecksumModeEnabled
		}
		out, err = w.bucket.client.HeadObject(ctx, in)
		return err
	})
	switch {
	case isNotFound(err):
		return absent, nil
	case err != nil:
		var f *failure
		if errors.As(err, &f) {
			return absent, &failure{kind: f.kind, text: "the last answer was lost or left it open, and so it is not known whether the object is there: " + f.text,
				hint: "look whether it is there; if it is, it is whole"}
		}
		return absent, err
	case aws.ToInt64(out.ContentLength) != w.size:
		return other, nil
	}
	is := bareETag(aws.ToString(out.ETag)) == w.etag()
	if w.checksums && out.ChecksumCRC32 != nil && out.ChecksumType != types.ChecksumTypeComposite {
		is = *out.ChecksumCRC32 == w.checksum
	}
	if is {
		return same, nil
	}
	return other, nil
}

// etag is what S3 calls the object where it is not encrypted with a key of its own: the MD5 of its content, or that of the MD5s of its parts with their
// number behind.
func (w *whole) etag() string {
	if w.id == "" {
		sum := md5.Sum(w.data) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}
	all := md5.New() //nolint:gosec // as above
	for _, p := range w.parts {
		sum, err := hex.DecodeString(bareETag(aws.ToString(p.ETag)))
		if err != nil {
			return ""
		}
		all.Write(sum)
	}
	return fmt.Sprintf("%x-%d", all.Sum(nil), len(w.parts))
}

// bareETag is an ETag without the quotes, which not every answer has.
func bareETag(etag string) string { return strings.Trim(etag, `"`) }
