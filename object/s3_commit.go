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

// commit makes the object seen. It goes on when the context of the run has ended, so that its outcome is known.
func (u *s3Upload) commit() error {
	ctx := context.WithoutCancel(u.parent)
	request := u.finish
	if u.id == "" {
		request = u.put
	}
	o := u.options
	o.Stall *= commitStalls
	doubt := false // an attempt may have succeeded although it seemed to fail
	for n := 1; ; n++ {
		err := u.request(ctx, o, request)
		if err == nil {
			return nil
		}
		doubt = doubt || passing(err)
		if doubt {
			there, lookErr := u.isThere(ctx)
			if lookErr != nil {
				return lookErr
			}
			if there {
				return nil
			}
		}
		if !passing(err) || n >= o.Attempts {
			return given(err, n)
		}
		if err := o.pause(ctx, n); err != nil {
			return err
		}
	}
}

// put sends an object of less than a part.
func (u *s3Upload) put(ctx context.Context, w *watch) error {
	in := &s3.PutObjectInput{Bucket: &u.bucket.name, Key: &u.key, ContentType: aws.String(contentType), ContentLength: aws.Int64(u.size),
		Body: watchedBody{bytes.NewReader(u.buffer), w}}
	if u.bucket.checksums {
		in.ChecksumCRC32 = aws.String(u.checksum())
	}
	if !u.overwrite {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := u.bucket.client.PutObject(ctx, in)
	return err
}

// finish makes an object of the parts, whose checksum the storage compares.
func (u *s3Upload) finish(ctx context.Context, _ *watch) error {
	in := &s3.CompleteMultipartUploadInput{Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts}}
	if u.bucket.checksums {
		in.ChecksumType, in.ChecksumCRC32, in.MpuObjectSize = types.ChecksumTypeFullObject, aws.String(u.checksum()), aws.Int64(u.size)
	}
	if !u.overwrite {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := u.bucket.client.CompleteMultipartUpload(ctx, in)
	return err
}

// checksum is the CRC-32 of the object as S3 writes it.
func (u *s3Upload) checksum() string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, u.sum.Sum32()))
}

// isThere tells whether the object under the key is the one that was written: by its size, and by its checksum or else its ETag.
func (u *s3Upload) isThere(ctx context.Context) (bool, error) {
	var out *s3.HeadObjectOutput
	err := u.options.retry(ctx, func() error {
		return u.request(ctx, u.options, func(ctx context.Context, _ *watch) (err error) {
			in := &s3.HeadObjectInput{Bucket: &u.bucket.name, Key: &u.key}
			if u.bucket.checksums {
				in.ChecksumMode = types.ChecksumModeEnabled
			}
			out, err = u.bucket.client.HeadObject(ctx, in)
			return err
		})
	})
	switch {
	case isNotFound(err):
		return false, nil
	case err != nil:
		var f *failure
		if errors.As(err, &f) {
			return false, &failure{kind: f.kind, text: "the last answer was lost, and so it is not known whether the object is there: " + f.text,
				hint: "look whether it is there; if it is, it is whole"}
		}
		return false, err
	case aws.ToInt64(out.ContentLength) != u.size:
		return false, nil
	case u.bucket.checksums && out.ChecksumCRC32 != nil && out.ChecksumType != types.ChecksumTypeComposite:
		return *out.ChecksumCRC32 == u.checksum(), nil
	}
	return strings.Trim(aws.ToString(out.ETag), `"`) == u.etag(), nil
}

// etag is what S3 calls the object where it is not encrypted with a key of its own: the MD5 of its content, or that of the MD5s of its parts with their
// number behind.
func (u *s3Upload) etag() string {
	if u.id == "" {
		sum := md5.Sum(u.buffer) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}
	all := md5.New() //nolint:gosec // as above
	for _, p := range u.parts {
		sum, err := hex.DecodeString(strings.Trim(aws.ToString(p.ETag), `"`))
		if err != nil {
			return ""
		}
		all.Write(sum)
	}
	return fmt.Sprintf("%x-%d", all.Sum(nil), len(u.parts))
}
