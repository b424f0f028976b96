//go:build !lean

package object

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // it is what storages keep of an object, to find damage and not malice
	"hash"
	"io"
	"sync/atomic"

	"gocloud.dev/blob"
)

// A streamed upload is one by the Go CDK: what it has not sent before is sent by commit. To end its context is to abort it.
type streamed struct {
	kit      *kit
	key      string
	parent   context.Context
	cancel   context.CancelFunc
	writer   io.WriteCloser
	hash     hash.Hash
	size     int64
	delivery *delivery
}

// A delivery is what an upload and the kit of its cloud know of each other. The kit repeats requests by itself.
type delivery struct {
	options Options
	doubt   atomic.Bool // a request was repeated that may have been carried out
	sum     *[]byte     // where the MD5 of the object is put before the last request, for storages that cannot know it; may be nil
}

// stallKey is under which the context of an upload has how long each of its requests may stand still, a time.Duration.
type stallKey struct{}

func newStreamed(parent context.Context, k *kit, key string, overwrite bool, o Options) (*streamed, error) {
	// Values alone: commit goes on when the parent has ended, and discard must be able to abort.
	ctx, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(parent), stallKey{}, o.Stall))
	d := &delivery{options: o}
	options := &blob.WriterOptions{BufferSize: o.part, MaxConcurrency: 2, ContentType: contentType, IfNotExist: !overwrite}
	inner := ctx
	if k.deliver != nil {
		var prepare func(func(any) bool)
		inner, prepare = k.deliver(ctx, d)
		options.BeforeWrite = func(as func(any) bool) error {
			prepare(as)
			return nil
		}
	}
	w, err := k.open(inner, key, options)
	if err != nil {
		cancel()
		return nil, k.fault(err)
	}
	return &streamed{k, key, parent, cancel, w, md5.New(), 0, d}, nil
}

func (k *kit) open(ctx context.Context, key string, o *blob.WriterOptions) (io.WriteCloser, error) {
	if k.writer != nil {
		return k.writer(ctx, key, o)
	}
	return k.bucket.NewWriter(ctx, key, o)
}

// contentType is that of all objects: they are data.
const contentType = "application/octet-stream"

func (s *streamed) Write(p []byte) (int, error) {
	stop := context.AfterFunc(s.parent, s.cancel)
	defer stop()
	n, err := s.writer.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	if err != nil {
		return n, s.why(err)
	}
	return n, nil
}

// why is what err means, which may be that the parent has ended.
func (s *streamed) why(err error) error {
	if s.parent.Err() != nil {
		return ended(s.parent)
	}
	return s.kit.fault(err)
}

func (s *streamed) complete() error {
	if s.parent.Err() != nil {
		return ended(s.parent)
	}
	return nil
}

// commit sends the rest, and makes the object seen. If an answer was lost, the object is looked for in the storage, where that keeps the MD5 of objects.
func (s *streamed) commit() error {
	if s.delivery.sum != nil {
		*s.delivery.sum = s.hash.Sum(nil)
	}
	err := s.writer.Close()
	if err == nil {
		return nil
	}
	err = s.kit.fault(err)
	if !passing(err) && !s.delivery.doubt.Load() {
		return err
	}
	ctx := context.WithoutCancel(s.parent)
	if found, lookErr := lookUp(ctx, s.kit, s.key, s.delivery.options); lookErr != nil || found.size != s.size {
		return err
	}
	attributes, lookErr := s.kit.bucket.Attributes(ctx, s.key)
	if lookErr == nil && bytes.Equal(attributes.MD5, s.hash.Sum(nil)) {
		return nil
	}
	return err
}

func (s *streamed) discard() {
	s.cancel()
	_ = s.writer.Close() // it fails, as its context has ended, and removes what was sent
}
