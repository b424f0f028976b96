//go:build !lean

package object

import (
	"bytes"
	"context"
	"fmt"
	"hash"
	"hash/crc32"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Limits of uploads in parts; S3 takes 10,000 of 5 MiB to 5 GiB, so objects end at 272 GB.
const (
	laterSize  = 32 << 20 // of those after the first manySmall
	manySmall  = 2000
	mostParts  = 10000
	atOnce     = 2          // requests; one more part is being filled
	maxBuffers = atOnce + 1 // so many parts are in memory
)

// An s3Upload is sent in parts while it is written. The parts are no object before commit.
type s3Upload struct {
	bucket    *s3Bucket
	key       string
	overwrite bool
	options   Options
	parent    context.Context // ends what is sent, but not commit
	ctx       context.Context // also ended by the first failure, and by discard
	cancel    context.CancelCauseFunc

	buffer []byte // the part that is being filled
	free   chan []byte
	wait   sync.WaitGroup
	sum    hash.Hash32 // CRC-32 of all that was written: what the storage shall have
	size   int64
	id     string // of the upload; empty before the first whole part

	lengths []int64 // of the parts, in bytes

	mu    sync.Mutex
	parts []types.CompletedPart // in order; the answers come in any
	err   error                 // the first failure of a part
}

func (b *s3Bucket) create(parent context.Context, key string, overwrite bool, o Options) (upload, error) {
	ctx, cancel := context.WithCancelCause(parent)
	err := o.ask(ctx, func(ctx context.Context, _ *watch) error { // now, rather than after the work
		_, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.name})
		return err
	})
	if isNotFound(err) { // any other error may be of a permission that writing does not need
		cancel(nil)
		return nil, err
	}
	u := &s3Upload{bucket: b, key: key, overwrite: overwrite, options: o, parent: parent, ctx: ctx, cancel: cancel, sum: crc32.NewIEEE(),
		free: make(chan []byte, maxBuffers)}
	for range maxBuffers {
		u.free <- nil // made when they are needed
	}
	return u, nil
}

// Write fills parts and sends those that are full; it waits while two are on their way.
func (u *s3Upload) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if u.buffer == nil {
			if err := u.takeBuffer(); err != nil {
				return n, err
			}
		}
		room := min(len(p), cap(u.buffer)-len(u.buffer))
		u.buffer = append(u.buffer, p[:room]...)
		u.sum.Write(p[:room])
		u.size += int64(room)
		n, p = n+room, p[room:]
		if len(u.buffer) == cap(u.buffer) {
			if err := u.send(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// takeBuffer waits for a buffer that nobody sends from.
func (u *s3Upload) takeBuffer() error {
	size := u.options.part
	if len(u.parts) >= manySmall { // only Write appends to parts
		size = laterSize
	}
	select {
	case b := <-u.free:
		if cap(b) < size {
			b = make([]byte, 0, size)
		}
		u.buffer = b[:0:size]
		return nil
	case <-u.ctx.Done():
		return u.stopped()
	}
}

// stopped is why the upload has ended.
func (u *s3Upload) stopped() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return u.err
	}
	return ended(u.ctx)
}

// send sends the part that was filled, and begins the upload before the first one.
func (u *s3Upload) send() error {
	if u.id == "" {
		if err := u.begin(); err != nil {
			return err
		}
	}
	if len(u.parts) == mostParts {
		return &failure{kind: ErrTransfer, text: fmt.Sprintf("it is longer than %d parts, the most that S3 takes", mostParts), hint: "divide the rows over several outputs: --rows"}
	}
	part := u.buffer
	u.buffer = nil
	u.lengths = append(u.lengths, int64(len(part)))
	u.mu.Lock()
	u.parts = append(u.parts, types.CompletedPart{PartNumber: aws.Int32(int32(len(u.parts) + 1))})
	number := len(u.parts)
	u.mu.Unlock()
	u.wait.Go(func() {
		out, err := u.sendPart(int32(number), part)
		u.mu.Lock()
		if err == nil {
			u.parts[number-1].ETag, u.parts[number-1].ChecksumCRC32 = out.ETag, out.ChecksumCRC32
		}
		if err != nil && u.err == nil {
			u.err = err
			u.cancel(err)
		}
		u.mu.Unlock()
		u.free <- part // there is room for all
	})
	return nil
}

// begin asks for an upload. One whose answer is lost remains, without parts, until a lifecycle rule removes it.
func (u *s3Upload) begin() error {
	in := &s3.CreateMultipartUploadInput{Bucket: &u.bucket.name, Key: &u.key, ContentType: aws.String(contentType)}
	if u.bucket.checksums {
		in.ChecksumAlgorithm, in.ChecksumType = types.ChecksumAlgorithmCrc32, types.ChecksumTypeFullObject
	}
	return u.options.ask(u.ctx, func(ctx context.Context, _ *watch) error {
		out, err := u.bucket.client.CreateMultipartUpload(ctx, in)
		if err == nil {
			u.id = aws.ToString(out.UploadId)
		}
		return err
	})
}

// request is one request with a watch; its error is a failure.
func request(parent context.Context, o Options, f func(context.Context, *watch) error) error {
	ctx, w := watched(parent, o.Stall)
	defer w.stop()
	if err := f(ctx, w); err != nil {
		return cut(parent, ctx, o.Stall, s3Failure(err))
	}
	return nil
}

// ask is request, as often as it takes.
func (o Options) ask(ctx context.Context, f func(context.Context, *watch) error) error {
	return o.retry(ctx, func() error { return request(ctx, o, f) })
}

// sendPart sends one part, as often as it takes; the storage checks its checksum.
func (u *s3Upload) sendPart(number int32, part []byte) (out *s3.UploadPartOutput, err error) {
	err = u.options.ask(u.ctx, func(ctx context.Context, w *watch) (err error) {
		in := &s3.UploadPartInput{Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.id, PartNumber: &number, ContentLength: aws.Int64(int64(len(part))),
			Body: watchedBody{bytes.NewReader(part), w}}
		if u.bucket.checksums {
			in.ChecksumAlgorithm = types.ChecksumAlgorithmCrc32
		}
		out, err = u.bucket.client.UploadPart(ctx, in)
		return err
	})
	return out, err
}

// complete sends the last part and waits for all. What is less than one part is kept: commit sends it.
func (u *s3Upload) complete() error {
	if u.id != "" && len(u.buffer) > 0 {
		if err := u.send(); err != nil {
			return err
		}
	}
	u.wait.Wait()
	if u.ctx.Err() != nil {
		return u.stopped()
	}
	for range len(u.free) { // nothing is written any more
		<-u.free
	}
	return nil
}

// discard removes the parts, as well as it can: what remains, a lifecycle rule removes.
func (u *s3Upload) discard() {
	u.cancel(nil)
	u.wait.Wait()
	if u.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.parent), 2*u.options.Stall)
	defer cancel()
	_ = u.bucket.drop(ctx, u.key, u.id, u.options)
}
