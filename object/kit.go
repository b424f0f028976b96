//go:build !lean

package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"path"
	"syscall"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"github.com/idxport/idxport/fault"
)

// A kit is a bucket by the Go CDK, which looks alike for all clouds. What only one of them can do is in functions, which may be nil.
type kit struct {
	bucket *blob.Bucket
	// tag is what the version is called, in place of the ETag.
	tag func(*blob.Attributes) string
	// demand makes a request for bytes demand this version.
	demand func(version identity, as func(any) bool)
	// check looks at the answer.
	check func(version identity, offset, n int64, r *blob.Reader) error
	// failure is what an error means; nil: kitFailure.
	failure func(error) error
	// writer opens the writer of an upload; nil: that of the bucket.
	writer func(ctx context.Context, key string, o *blob.WriterOptions) (io.WriteCloser, error)
	// deliver prepares the context of an upload, and its writer as soon as there is one.
	deliver func(context.Context, *delivery) (context.Context, func(as func(any) bool))
}

// openFiles is the bucket of all files of this machine.
func openFiles() (bucket, error) {
	b, err := fileblob.OpenBucket("/", &fileblob.Options{Metadata: fileblob.MetadataDontWrite, NoTempDir: true})
	if err != nil {
		return nil, kitFailure(err)
	}
	return &kit{bucket: b}, nil
}

func (k *kit) fault(err error) error {
	if k.failure != nil {
		return k.failure(err)
	}
	return kitFailure(err)
}

func (k *kit) find(ctx context.Context, key string) (identity, error) {
	a, err := k.bucket.Attributes(ctx, key)
	if err != nil {
		return identity{}, k.fault(err)
	}
	found := identity{size: a.Size, etag: a.ETag, modTime: a.ModTime}
	if k.tag != nil {
		found.etag = k.tag(a)
	}
	return found, nil
}

func (k *kit) read(ctx context.Context, key string, version identity, offset, n int64) (io.ReadCloser, error) {
	o := &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
		if k.demand != nil {
			k.demand(version, as)
		}
		return nil
	}}
	r, err := k.bucket.NewRangeReader(ctx, key, offset, n, o)
	if err != nil {
		err = k.fault(err)
		if errors.Is(err, ErrExists) { // the condition that it is the same version was not met
			err = &failure{kind: fault.Changed}
		}
		return nil, err
	}
	if k.check != nil {
		err = k.check(version, offset, n, r)
	} else if r.Size() != version.size || !r.ModTime().Equal(version.modTime) {
		err = &failure{kind: fault.Changed}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (k *kit) list(ctx context.Context, prefix string, most int) (infos []fs.FileInfo, err error) {
	all := k.bucket.List(&blob.ListOptions{Prefix: prefix, Delimiter: "/"})
	for most == 0 || len(infos) < most {
		o, err := all.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, k.fault(err)
		}
		if o.Key == prefix { // some programs make an empty object for a folder
			if most > 0 {
				infos = append(infos, info{name: path.Base("/" + o.Key)})
			}
			continue
		}
		infos = append(infos, info{name: path.Base(o.Key), size: o.Size, modTime: o.ModTime, folder: o.IsDir})
	}
	return infos, nil
}

func (k *kit) create(ctx context.Context, key string, overwrite bool, o Options) (upload, error) {
	return newStreamed(ctx, k, key, overwrite, o)
}

// kitFailure is what an error of the Go CDK means, whatever the cloud.
func kitFailure(err error) error {
	var url *url.Error // before anything else: its text holds the request
	text := reason(err)
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return &failure{kind: ErrNotFound}
	case gcerrors.PermissionDenied:
		return &failure{kind: ErrDenied, text: text}
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		return &failure{kind: ErrExists}
	case gcerrors.InvalidArgument, gcerrors.Unimplemented:
		return &failure{kind: ErrTransfer, text: text}
	case gcerrors.ResourceExhausted, gcerrors.Internal:
		return &failure{kind: ErrTransfer, text: text, again: true}
	}
	return &failure{kind: ErrTransfer, text: text, again: errors.As(err, &url) || errors.Is(err, io.ErrUnexpectedEOF)}
}

// reason is what may be shown of the error of a connection: never the request that it was for.
func reason(err error) string {
	var request *url.Error
	var call *net.OpError
	var number syscall.Errno
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return "no address for the server " + scrub(name.Name)
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &call):
		return scrub(call.Err.Error())
	case errors.As(err, &request):
		return scrub(request.Err.Error())
	}
	return scrub(err.Error())
}
