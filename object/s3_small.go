//go:build !lean

package object

import (
	"context"
	"hash/crc32"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// put sends an object in one request, as commit does with one of less than a part.
func (b *s3Bucket) put(ctx context.Context, key string, data []byte, overwrite bool, o Options) error {
	w := &whole{bucket: b, key: key, overwrite: overwrite, options: o, data: data, size: int64(len(data)),
		checksum: checksum(crc32.ChecksumIEEE(data)), checksums: b.checksums}
	return w.appear(ctx, false)
}

// remove asks for no more than the end of the object: S3 does not tell whether there was one.
func (b *s3Bucket) remove(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
		return s3Failure(err)
	}
	return nil
}
