//go:build !lean

package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
)

// manyStalls is how many times longer than others the requests may take that put an object together
// or list many.
const manyStalls = 10

// An s3Client is a bucket of S3, or of a server like it.
type s3Client struct {
	current   atomic.Pointer[regional]
	name      string // of the bucket
	patience  Options
	endpoint  *url.URL
	follow    bool // the region may be another, as the server says
	lookup    minio.BucketLookupType
	checksums bool // the storage is asked to compare them
	validate  bool // and to say them
	keys      *credentials.Credentials
	transport http.RoundTripper
}

// secure reports whether nobody can change requests on their way.
func (s *s3Client) secure() bool { return s.endpoint.Scheme == "https" }

// A regional is a client for a region.
type regional struct {
	*minio.Core
	region string
}

// An exchange is a request of minio-go as it went, which is all that errors are made of.
type exchange struct {
	*watch
	region string      // where it went
	header http.Header // of the answer
	status int
	answer struct{ Code, Message, Region string } // of one that is an error
	err    error                                  // in place of an answer
}

type exchangeKey struct{}

// do makes a request: f uses the context and leaves an error that is looked into.
func (s *s3Client) do(parent context.Context, stalls int, f func(context.Context, *minio.Core, *exchange) error) error {
	ctx, w := watched(parent, time.Duration(stalls)*s.patience.Stall)
	defer w.stop()
	c := s.current.Load()
	x := &exchange{watch: w, region: c.region}
	if err := f(context.WithValue(ctx, exchangeKey{}, x), c.Core, x); err != nil {
		return w.cut(parent, ctx, s.meaning(x, err))
	}
	return nil
}

func (s *s3Client) head(ctx context.Context, key string) (found identity, err error) {
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, x *exchange) error {
		info, err := c.StatObject(ctx, s.name, key, minio.StatObjectOptions{Checksum: s.checksums && s.validate})
		if err == nil && info.Size < 0 {
			err = failed(fault.IO, "found an object without a length")
		}
		found = identity{size: info.Size, modTime: info.LastModified, etag: x.header.Get("ETag")}
		if x.header.Get("X-Amz-Checksum-Type") != "COMPOSITE" && s.checksums {
			found.crc32 = x.header.Get("X-Amz-Checksum-Crc32")
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
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, x *exchange) error {
		body, info, _, err := c.GetObject(ctx, s.name, key, o)
		if err != nil {
			return err
		}
		defer body.Close() // only read from
		// Not every server knows conditions and ranges.
		part, size := x.header.Get("Content-Range"), info.Size
		if _, after, ok := strings.Cut(part, "/"); ok {
			_, _ = fmt.Sscan(after, &size)
		}
		if x.header.Get("ETag") != version.etag || size != version.size {
			return failed(fault.Changed, "")
		}
		whole := offset == 0 && last+1 == version.size && part == ""
		if want := fmt.Sprintf("bytes %d-%d/", offset, last); !whole && !strings.HasPrefix(part, want) {
			return again("the server did not send the range that was asked for")
		}
		for got < len(p) && err == nil {
			var n int
			n, err = body.Read(p[got:])
			got += n
			x.alive()
		}
		if err == io.EOF {
			return nil
		}
		return err
	})
	return got, err
}

func (s *s3Client) list(ctx context.Context, prefix string, one bool) (infos []fs.FileInfo, err error) {
	o := minio.ListObjectsOptions{Prefix: prefix, FetchOwner: new(bool)}
	if one {
		o.MaxKeys = 1
	}
	err = s.do(ctx, manyStalls, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		for o := range c.ListObjectsIter(ctx, s.name, o) {
			if o.Err != nil {
				return o.Err
			}
			i := info{name: path.Base(o.Key), size: o.Size, modTime: o.LastModified, folder: strings.HasSuffix(o.Key, "/")}
			if o.Key == prefix { // some programs make an empty object for a folder
				i = info{}
			}
			if infos = append(infos, i); one {
				break
			}
		}
		return ctx.Err() // at which the list just ends
	})
	return infos, err
}

func (s *s3Client) hasBucket(ctx context.Context) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		_, err := c.BucketExists(ctx, s.name)
		return err
	})
}

// options are those of requests that make an object visible, with the checksum of the whole.
func (s *s3Client) options(replace bool, headers map[string]string) minio.PutObjectOptions {
	o := minio.PutObjectOptions{UserMetadata: headers, DisableContentSha256: true} // or it would be sent in small signed pieces
	if !replace {
		o.SetMatchETagExcept("*")
	}
	return o
}

// body is what is sent, so that sending counts as movement, and its SHA-256 to be signed, where nothing
// else keeps others from changing it on its way.
func (s *s3Client) body(x *exchange, data []byte) (body io.Reader, sha256Hex string) {
	if !s.secure() {
		sum := sha256.Sum256(data)
		sha256Hex = hex.EncodeToString(sum[:])
	}
	return watchedBody{bytes.NewReader(data), x.watch}, sha256Hex
}

type watchedBody struct {
	io.ReadSeeker
	watch *watch
}

func (b watchedBody) Read(p []byte) (int, error) {
	b.watch.alive()
	return b.ReadSeeker.Read(p)
}

const crcHeader = "X-Amz-Checksum-Crc32"

func (s *s3Client) put(ctx context.Context, key string, data []byte, crc string, replace bool) error {
	headers := map[string]string{}
	if s.checksums {
		headers[crcHeader] = crc
	}
	return s.do(ctx, manyStalls, func(ctx context.Context, c *minio.Core, x *exchange) error {
		body, sum := s.body(x, data)
		_, err := c.PutObject(ctx, s.name, key, body, int64(len(data)), "", sum, s.options(replace, headers))
		return err
	})
}

func (s *s3Client) remove(ctx context.Context, key string) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		return c.RemoveObject(ctx, s.name, key, minio.RemoveObjectOptions{})
	})
}

func (s *s3Client) begin(ctx context.Context, key string) (id string, err error) {
	headers := map[string]string{}
	if s.checksums {
		headers["X-Amz-Checksum-Algorithm"], headers["X-Amz-Checksum-Type"] = "CRC32", "FULL_OBJECT"
	}
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) (err error) {
		id, err = c.NewMultipartUpload(ctx, s.name, key, s.options(true, headers))
		return err
	})
	return id, err
}

func (s *s3Client) send(ctx context.Context, key, id string, number int, data []byte) (part Part, err error) {
	header := http.Header{}
	if s.checksums {
		header.Set(crcHeader, checksum(crc32.ChecksumIEEE(data)))
	}
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, x *exchange) error {
		body, sum := s.body(x, data)
		_, err := c.PutObjectPart(ctx, s.name, key, id, number, body, int64(len(data)),
			minio.PutObjectPartOptions{Sha256Hex: sum, CustomHeader: header, DisableContentSha256: true})
		part = Part{ETag: x.header.Get("ETag"), CRC32: x.header.Get(crcHeader), Bytes: int64(len(data))}
		return err
	})
	return part, err
}

// finish asks the storage to compare the checksum of the whole if it did so with the parts.
func (s *s3Client) finish(ctx context.Context, key string, u PendingUpload, replace bool) error {
	headers := map[string]string{}
	if u.Parts[0].CRC32 != "" {
		headers["X-Amz-Checksum-Type"], headers[crcHeader] = "FULL_OBJECT", u.CRC32
	}
	parts := make([]minio.CompletePart, len(u.Parts))
	for i, p := range u.Parts {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: p.ETag, ChecksumCRC32: p.CRC32}
	}
	return s.do(ctx, manyStalls, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		_, err := c.CompleteMultipartUpload(ctx, s.name, key, u.Upload, parts, s.options(replace, headers))
		return err
	})
}

func (s *s3Client) abort(ctx context.Context, key, id string) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		return c.AbortMultipartUpload(ctx, s.name, key, id)
	})
}

func (s *s3Client) parts(ctx context.Context, key, id string) (parts []Part, err error) {
	err = s.do(ctx, manyStalls, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		for after := 0; ; {
			page, err := c.ListObjectParts(ctx, s.name, key, id, after, 0)
			for _, p := range page.ObjectParts {
				parts = append(parts, Part{ETag: p.ETag, Bytes: p.Size, number: p.PartNumber})
			}
			if err != nil || !page.IsTruncated {
				return err
			}
			if page.NextPartNumberMarker <= after {
				return endless()
			}
			after = page.NextPartNumberMarker
		}
	})
	return parts, err
}

func (s *s3Client) uploads(ctx context.Context, prefix string, after mark) (uploads []mark, next mark, err error) {
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		page, err := c.ListMultipartUploads(ctx, s.name, prefix, after.key, after.id, "", 0)
		for _, u := range page.Uploads {
			uploads = append(uploads, mark{u.Key, u.UploadID})
		}
		if page.IsTruncated {
			next = mark{page.NextKeyMarker, page.NextUploadIDMarker}
			if next == (mark{}) && len(uploads) > 0 { // some say it by the last upload alone
				next = uploads[len(uploads)-1]
			}
		}
		return err
	})
	return uploads, next, err
}

// in makes requests go to a region.
func (s *s3Client) in(region string) error {
	core, err := minio.NewCore(s.endpoint.Host, &minio.Options{Creds: s.keys, Secure: s.secure(), Transport: s.transport, Region: region,
		BucketLookup: s.lookup, MaxRetries: 1})
	if err != nil {
		return failed(fault.Usage, "the endpoint %s cannot be used: %s", scrub(s.endpoint.Host), scrub(err.Error()))
	}
	core.SetS3EnableDualstack(false) // hosts that networks of AWS know by the names without
	s.current.Store(&regional{core, region})
	return nil
}

// A recorder notes how a request went in its exchange, and ends the context of one that failed:
// minio-go would pause before it gives up.
type recorder struct{ base http.RoundTripper }

// RoundTrip sends one request.
func (t recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return answer, err
	}
	x.alive()
	if x.err = err; err != nil {
		x.stop()
		return answer, err
	}
	x.status, x.header = answer.StatusCode, answer.Header
	bad := answer.StatusCode >= http.StatusMultipleChoices
	if !bad && r.Method != http.MethodPost { // S3 may answer the end of an upload with 200 and an error
		return answer, nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close() // only read from
	var content struct {
		XMLName               xml.Name `xml:"Error"`
		Code, Message, Region string
	}
	if xml.Unmarshal(text, &content) == nil {
		x.answer.Code, x.answer.Message, x.answer.Region = content.Code, content.Message, content.Region
		bad = true
	}
	if x.err = err; bad || err != nil {
		x.stop()
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	return answer, err
}

// plainCode matches what an error code of S3 is made of; what is not may be anything.
var plainCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`) })

// meaning is what an error of a request means. The code and the status are quoted, as both are words
// of the protocol, and what the server says about a request that it finds wrong as far as that shows
// no secret.
func (s *s3Client) meaning(x *exchange, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	code, status := x.answer.Code, x.status
	if !plainCode().MatchString(code) {
		code = ""
	}
	text := code
	if status >= http.StatusMultipleChoices {
		text = strings.TrimSpace(fmt.Sprintf("%s (status %d)", code, status))
	}
	switch {
	case x.err != nil:
		return unanswered(x.err)
	case status == 0:
		return failed(fault.IO, "the request cannot be made: %s", scrub(err.Error()))
	case status < http.StatusMultipleChoices && x.answer.Code == "":
		return again("the connection broke: %s", reason(err))
	case code == "NoSuchBucket":
		return failed(fault.NotFound, "there is no such bucket")
	case code == "NoSuchUpload", code == "InvalidPart": // not the object
		return noUpload("%s", code)
	case status == http.StatusPreconditionFailed || code == "PreconditionFailed":
		return failed(fault.Exists, "")
	case s.elsewhere(x):
		return again("the bucket is in another region")
	case status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect:
		return failed(fault.IO, "the bucket is in another region").WithHint("name the region: ?region=eu-central-1, or AWS_REGION")
	case fleeting(code, status):
		return again("%s", text)
	case status == http.StatusNotFound || code == "NoSuchKey" || code == "NotFound":
		return failed(fault.NotFound, "")
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return failed(fault.Permission, "%s", text)
	case status == http.StatusRequestedRangeNotSatisfiable:
		return failed(fault.Changed, "")
	}
	return failed(fault.IO, "%s", strings.TrimSuffix(text+": "+scrub(x.answer.Message), ": ")).WithHint("check the server's ?endpoint= and what it supports")
}

// elsewhere reports whether a server has refused a request because the bucket is in another region, to
// which the next requests go.
func (s *s3Client) elsewhere(x *exchange) bool {
	region := x.header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = x.answer.Region
	}
	moved := x.status == http.StatusMovedPermanently || x.status == http.StatusTemporaryRedirect || x.status == http.StatusBadRequest ||
		x.status == http.StatusForbidden && x.answer.Code != "AccessDenied"
	if !moved || !s.follow || region == "" || region == x.region {
		return false
	}
	return s.current.Load().region == region || s.in(region) == nil // another request may have been first
}

// fleeting reports whether an answer may be another one the next time: errors of the server, too many
// requests, another request for the same key at the same time, and bytes that were lost or damaged on
// their way.
func fleeting(code string, status int) bool {
	switch code {
	case "SlowDown", "RequestTimeout", "RequestTimeTooSkewed", "InternalError", "ServiceUnavailable", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch",
		"XAmzContentChecksumMismatch", "OperationAborted", "ConditionalRequestConflict", "Throttling", "ThrottlingException", "RequestLimitExceeded":
		return true
	}
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// unanswered is the error of a request that got no answer. A name or a certificate that is wrong will
// be so the next time.
func unanswered(err error) error {
	var name *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return failed(fault.IO, "%s", reason(err)).WithHint("check the bucket's name, ?endpoint= and ?use_path_style=true")
	case errors.As(err, &authority), errors.As(err, &host):
		return failed(fault.IO, "the server's certificate is not trusted")
	}
	return again("no answer: %s", reason(err))
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
