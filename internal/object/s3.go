//go:build !lean

package object

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
)

// stallFactor multiplies Options.Stall for requests that assemble an object or list many.
const stallFactor = 10

// An s3Client is a bucket of S3, or of a server like it.
type s3Client struct {
	current      atomic.Pointer[regionClient]
	name         string // of the bucket
	options      Options
	endpoint     *url.URL
	followRegion bool // switch to the region that the server names
	lookup       minio.BucketLookupType
	checksums    bool // send checksums, which the storage compares
	validate     bool // request the checksums of objects
	keys         *credentials.Credentials
	transport    http.RoundTripper
}

// A regionClient is a client of minio-go for one region.
type regionClient struct {
	*minio.Core
	region string
}

// connect opens a bucket of S3, or of a server like it.
func connect(name string, query url.Values, o Options) (*client, error) {
	s, err := newS3Client(name, query, o)
	if err != nil {
		return nil, err
	}
	return &client{o, s.head, s.read, s.list, s.hasBucket, s.put, s.finish, s.begin, s.send, s.abort}, nil
}

func newS3Client(name string, query url.Values, o Options) (*s3Client, error) {
	e := readSettings(query)
	s := &s3Client{name: name, options: o, endpoint: e.endpoint(), followRegion: !query.Has("region"),
		checksums: e.whenSupported("request_checksum_calculation"),
		validate:  e.whenSupported("response_checksum_validation"),
		keys:      credentials.NewStatic("", "", "", credentials.SignatureAnonymous),
		transport: guard{newTransport()}}
	_, err := netip.ParseAddr(s.endpoint.Hostname())
	if s.lookup = minio.BucketLookupDNS; e.isTrue("use_path_style") || err == nil || strings.ContainsFunc(name, notHost) {
		s.lookup = minio.BucketLookupPath
	}
	if !e.isTrue("anonymous") {
		s.keys = credentials.New(e.provider())
	}
	if e.err != nil {
		return nil, e.err
	}
	return s, s.useRegion(e.region())
}

// notHost reports whether a bucket with this character in its name cannot be a subdomain of the
// endpoint: it is not allowed in a host name, or a wildcard certificate does not cover it.
func notHost(r rune) bool { return r == '.' || r == '_' || r >= 'A' && r <= 'Z' }

// secure reports whether requests are encrypted.
func (s *s3Client) secure() bool { return s.endpoint.Scheme == "https" }

// useRegion makes the client send its next requests to a region.
func (s *s3Client) useRegion(region string) error {
	core, err := minio.NewCore(s.endpoint.Host, &minio.Options{Creds: s.keys, Secure: s.secure(), Transport: s.transport,
		Region: region, BucketLookup: s.lookup, MaxRetries: s.options.Attempts})
	if err != nil {
		return failed(fault.Usage, "the endpoint %s cannot be used: %s", scrub(s.endpoint.Host), scrub(err.Error()))
	}
	core.SetS3EnableDualstack(false) // AWS's private networks only know the other host names
	s.current.Store(&regionClient{core, region})
	return nil
}

// do calls f, which sends one request, or one for each page of a list, with the context and the
// client that it gets, and classifies the error of f. minio-go repeats the request after temporary
// errors. A request fails when it stalls for factor times Options.Stall.
func (s *s3Client) do(parent context.Context, factor int, f func(context.Context, *minio.Core, *exchange) error) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	x := &exchange{stop: stop, begin: time.Now(), stall: time.Duration(factor) * s.options.Stall,
		attempts: s.options.Attempts, limited: true}
	c := s.current.Load()
	err := f(context.WithValue(ctx, exchangeKey{}, x), c.Core, x)
	switch {
	case err == nil:
		return nil
	case parent.Err() != nil:
		return canceled(parent)
	case ctx.Err() != nil:
		err = context.Cause(ctx) // minio-go would only say that it is canceled
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && s.redirected(answer, c.region) {
		return s.do(parent, factor, f)
	}
	return afterAttempts(s.classify(err), x.failed)
}

// redirected reports whether the server refused a request because the bucket is in another region
// than the one it was sent to. If so, it makes the client use that region.
func (s *s3Client) redirected(answer minio.ErrorResponse, region string) bool {
	moved := isMoved(answer.StatusCode) || answer.StatusCode == http.StatusBadRequest ||
		answer.StatusCode == http.StatusForbidden && answer.Code != "AccessDenied"
	if !moved || !s.followRegion || answer.Region == "" || answer.Region == region {
		return false
	}
	// Another request may have switched already.
	return s.current.Load().region == answer.Region || s.useRegion(answer.Region) == nil
}

func isMoved(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect
}

func (s *s3Client) head(ctx context.Context, key string) (found identity, err error) {
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		info, err := c.StatObject(ctx, s.name, key, minio.StatObjectOptions{Checksum: s.checksums && s.validate})
		if err == nil && info.Size < 0 {
			err = failed(fault.IO, "found an object without a length")
		}
		found = identity{size: info.Size, modTime: info.LastModified, etag: info.Headers.Get("ETag")}
		if info.ChecksumMode != "COMPOSITE" && s.checksums {
			found.crc32 = info.ChecksumCRC32
		}
		return err
	})
	return found, err
}

func (s *s3Client) read(ctx context.Context, key string, version identity, offset int64, p []byte) (got int, err error) {
	last := offset + int64(len(p)) - 1
	var o minio.GetObjectOptions
	if err := o.SetRange(offset, last); err != nil {
		return 0, err
	}
	if version.etag != "" {
		o.Set("If-Match", version.etag)
	}
	var lost error // of the body, which minio-go does not ask for again
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, x *exchange) error {
		x.limited = false
		body, info, header, err := c.GetObject(ctx, s.name, key, o)
		if err != nil {
			return err
		}
		defer body.Close()
		// Not every server supports conditions and ranges.
		part, size := header.Get("Content-Range"), info.Size
		if _, after, ok := strings.Cut(part, "/"); ok {
			_, _ = fmt.Sscan(after, &size)
		}
		if header.Get("ETag") != version.etag || size != version.size {
			return failed(fault.Changed, "")
		}
		whole := offset == 0 && last+1 == version.size && part == ""
		if want := fmt.Sprintf("bytes %d-%d/", offset, last); !whole && !strings.HasPrefix(part, want) {
			lost = temporary("the server did not send the requested range")
			return nil
		}
		got, lost = fill(body, p)
		return nil
	})
	if err == nil && ctx.Err() != nil && lost != nil {
		lost = canceled(ctx)
	}
	return got, cmp.Or(err, lost)
}

func (s *s3Client) list(ctx context.Context, prefix string, limit int) (infos []fs.FileInfo, err error) {
	o := minio.ListObjectsOptions{Prefix: prefix, FetchOwner: new(bool), MaxKeys: min(limit, 1000)}
	err = s.do(ctx, stallFactor, func(ctx context.Context, c *minio.Core, x *exchange) error {
		infos = nil
		for o := range c.ListObjectsIter(ctx, s.name, o) {
			if o.Err != nil {
				return o.Err
			}
			i := info{name: path.Base(o.Key), size: o.Size, modTime: o.LastModified, folder: strings.HasSuffix(o.Key, "/")}
			if o.Key == prefix { // an empty object that some programs make for a folder
				i = info{}
			}
			x.failed = 0
			if infos = append(infos, i); len(infos) > maxEntries {
				return endless()
			}
			if len(infos) == limit {
				break
			}
		}
		return ctx.Err() // the iterator stops without an error if the context has ended
	})
	return infos, err
}

func (s *s3Client) hasBucket(ctx context.Context) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		found, err := c.BucketExists(ctx, s.name)
		if err == nil && !found {
			err = noBucket()
		}
		return err
	})
}

// putOptions returns the options of a request that begins an upload or makes an object visible.
func (s *s3Client) putOptions(replace bool, headers map[string]string) minio.PutObjectOptions {
	// Without DisableContentSha256, minio-go would send small signed pieces.
	o := minio.PutObjectOptions{UserMetadata: headers, DisableContentSha256: true}
	if !replace {
		o.SetMatchETagExcept("*")
	}
	return o
}

// sum returns the SHA-256 to be signed if the connection is not encrypted, so that nobody can
// change data in transit.
func (s *s3Client) sum(data []byte) string {
	if s.secure() {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

const crcHeader = "X-Amz-Checksum-Crc32"

func (s *s3Client) put(ctx context.Context, key string, data []byte, crc string, replace bool) (sent int, err error) {
	headers := map[string]string{}
	if s.checksums {
		headers[crcHeader] = crc
	}
	err = s.do(ctx, stallFactor, func(ctx context.Context, c *minio.Core, x *exchange) error {
		defer func() { sent += x.pages }()
		_, err := c.PutObject(ctx, s.name, key, bytes.NewReader(data), int64(len(data)), "", s.sum(data),
			s.putOptions(replace, headers))
		return err
	})
	return sent, err
}

func (s *s3Client) begin(ctx context.Context, key string) (id string, err error) {
	headers := map[string]string{}
	if s.checksums {
		headers["X-Amz-Checksum-Algorithm"], headers["X-Amz-Checksum-Type"] = "CRC32", "FULL_OBJECT"
	}
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) (err error) {
		id, err = c.NewMultipartUpload(ctx, s.name, key, s.putOptions(true, headers))
		return err
	})
	return id, err
}

func (s *s3Client) send(ctx context.Context, key, id string, number int, data []byte) (sent part, err error) {
	header := http.Header{}
	if s.checksums {
		header.Set(crcHeader, checksum(crc32.ChecksumIEEE(data)))
	}
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		p, err := c.PutObjectPart(ctx, s.name, key, id, number, bytes.NewReader(data), int64(len(data)),
			minio.PutObjectPartOptions{Sha256Hex: s.sum(data), CustomHeader: header, DisableContentSha256: true})
		sent = part{p.ETag, p.ChecksumCRC32} // without quotes, which every server accepts
		return err
	})
	return sent, err
}

// finish completes an upload. If the storage verified the checksums of the parts, it is asked to
// verify that of the whole object.
func (s *s3Client) finish(ctx context.Context, key string, u upload, replace bool) (sent int, err error) {
	headers := map[string]string{}
	if u.parts[0].crc32 != "" {
		headers["X-Amz-Checksum-Type"], headers[crcHeader] = "FULL_OBJECT", u.crc32
	}
	parts := make([]minio.CompletePart, len(u.parts))
	for i, p := range u.parts {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: p.etag, ChecksumCRC32: p.crc32}
	}
	err = s.do(ctx, stallFactor, func(ctx context.Context, c *minio.Core, x *exchange) error {
		defer func() { sent += x.pages }()
		_, err := c.CompleteMultipartUpload(ctx, s.name, key, u.id, parts, s.putOptions(replace, headers))
		return err
	})
	return sent, err
}

func (s *s3Client) abort(ctx context.Context, key, id string) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		return c.AbortMultipartUpload(ctx, s.name, key, id)
	})
}

// classify returns the error of a request as a *fault.Error. It quotes the code and the status,
// which are words of the protocol, and the server's message about an invalid request, scrubbed.
func (s *s3Client) classify(err error) error {
	var known *fault.Error
	var answer minio.ErrorResponse
	var lost *url.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &lost) || errors.As(err, new(net.Error)):
		return connectionError(err, "check the bucket's name, ?endpoint= and ?use_path_style=true")
	case !errors.As(err, &answer):
		return failed(fault.IO, "the server's answer cannot be read: %s", reason(err)).WithHint("check ?endpoint=")
	}
	return s.answerError(answer)
}

// noBucket returns the error for a bucket that does not exist.
func noBucket() *fault.Error {
	missing := messages[fault.Refused]
	return fault.New(fault.NotFound, "%s", missing.words).WithHint("%s", missing.hint).Because(fs.ErrNotExist) // as for files
}

// answerError returns the error for an answer that is an error.
func (s *s3Client) answerError(answer minio.ErrorResponse) error {
	code, status := answer.Code, answer.StatusCode
	if !plainCode().MatchString(code) {
		code = ""
	}
	text := code
	if status >= http.StatusMultipleChoices {
		text = strings.TrimSpace(fmt.Sprintf("%s (status %d)", code, status))
	}
	switch {
	case status == 0:
		return failed(fault.IO, "the request could not be made: %s", scrub(answer.Error()))
	case code == "NoSuchBucket":
		return noBucket()
	case code == "NoSuchUpload": // this 404 is about the upload, not the object
		return failed(fault.IO, "the upload no longer exists").
			WithHint("a lifecycle rule that aborts incomplete uploads must wait until the work is done")
	case status == http.StatusPreconditionFailed || code == "PreconditionFailed":
		return failed(fault.Exists, "")
	case isMoved(status):
		return failed(fault.IO, "the bucket is in another region").
			WithHint("name the region: ?region=eu-central-1, or AWS_REGION")
	case isTemporaryStatus(status) || status < http.StatusMultipleChoices || status == http.StatusConflict:
		return temporary("%s", text)
	case status == http.StatusNotFound:
		return failed(fault.NotFound, "")
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return failed(fault.Permission, "%s", text)
	case status == http.StatusRequestedRangeNotSatisfiable:
		return failed(fault.Changed, "")
	}
	return failed(fault.IO, "%s", strings.TrimSuffix(text+": "+scrub(answer.Message), ": ")).
		WithHint("check ?endpoint= and what the server supports")
}
