//go:build !lean

package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
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

// connect opens a bucket of S3, or of a server like it.
func connect(ctx context.Context, name string, query url.Values, o Options) (client, error) {
	s, err := newS3Client(ctx, name, query, o)
	if err != nil {
		return client{}, err
	}
	return client{s.head, s.read, s.list, s.hasBucket, s.put, s.begin, s.send, s.finish, s.abort}, nil
}

func newS3Client(ctx context.Context, name string, query url.Values, o Options) (*s3Client, error) {
	e := readEnvironment(query)
	s := &s3Client{name: name, options: o, endpoint: e.endpoint(), followRegion: !query.Has("region"),
		checksums: e.whenSupported("request_checksum_calculation"), validate: e.whenSupported("response_checksum_validation")}
	_, err := netip.ParseAddr(s.endpoint.Hostname())
	if s.lookup = minio.BucketLookupDNS; e.isTrue("use_path_style") || err == nil || strings.ContainsFunc(name, notHost) {
		s.lookup = minio.BucketLookupPath
	}
	anonymous, transport := e.isTrue("anonymous"), e.transport()
	if e.err != nil {
		return nil, e.err
	}
	s.transport, s.keys = recorder{transport}, credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	if !anonymous {
		s.keys = credentials.New(&keyProvider{environment: e, client: &http.Client{Transport: transport}})
		err := o.retry(ctx, func() error {
			_, err := s.keys.GetWithContext(&credentials.CredContext{Context: ctx})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, s.useRegion(e.region())
}

// notHost reports whether a bucket with this character in its name cannot be a subdomain of the
// endpoint: it is not allowed in a host name, or a wildcard certificate does not cover it.
func notHost(r rune) bool { return r == '.' || r == '_' || r >= 'A' && r <= 'Z' }

// secure reports whether requests are encrypted.
func (s *s3Client) secure() bool { return s.endpoint.Scheme == "https" }

// A regionClient is a client of minio-go for one region.
type regionClient struct {
	*minio.Core
	region string
}

// An exchange records a request of minio-go and its answer. classify makes an error from it.
type exchange struct {
	*watch
	region string      // to which it was sent
	header http.Header // of the answer
	status int
	answer struct{ Code, Message, Region string } // of an answer that is an error
	err    error                                  // if there was no answer
}

type exchangeKey struct{}

// do calls f, which sends one request, or one for each page of a list, with the context and the
// client that it gets, and classifies the error of f. The request fails when it stalls for factor
// times Options.Stall.
func (s *s3Client) do(parent context.Context, factor int, f func(context.Context, *minio.Core, *exchange) error) error {
	ctx, w := watched(parent, time.Duration(factor)*s.options.Stall)
	defer w.stop()
	c := s.current.Load()
	x := &exchange{watch: w, region: c.region}
	if err := f(context.WithValue(ctx, exchangeKey{}, x), c.Core, x); err != nil {
		return w.explain(parent, ctx, s.classify(x, err))
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
		defer body.Close()
		// Not every server supports conditions and ranges.
		part, size := x.header.Get("Content-Range"), info.Size
		if _, after, ok := strings.Cut(part, "/"); ok {
			_, _ = fmt.Sscan(after, &size)
		}
		if x.header.Get("ETag") != version.etag || size != version.size {
			return failed(fault.Changed, "")
		}
		whole := offset == 0 && last+1 == version.size && part == ""
		if want := fmt.Sprintf("bytes %d-%d/", offset, last); !whole && !strings.HasPrefix(part, want) {
			return temporary("the server did not send the requested range")
		}
		got, err = x.fill(body, p)
		return err
	})
	return got, err
}

func (s *s3Client) list(ctx context.Context, prefix string, firstOnly bool) (infos []fs.FileInfo, err error) {
	o := minio.ListObjectsOptions{Prefix: prefix, FetchOwner: new(bool)}
	if firstOnly {
		o.MaxKeys = 1
	}
	err = s.do(ctx, stallFactor, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		for o := range c.ListObjectsIter(ctx, s.name, o) {
			if o.Err != nil {
				return o.Err
			}
			i := info{name: path.Base(o.Key), size: o.Size, modTime: o.LastModified, folder: strings.HasSuffix(o.Key, "/")}
			if o.Key == prefix { // an empty object that some programs make for a folder
				i = info{}
			}
			if infos = append(infos, i); firstOnly {
				break
			}
		}
		return ctx.Err() // the iterator stops without an error if the context has ended
	})
	return infos, err
}

func (s *s3Client) hasBucket(ctx context.Context) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		_, err := c.BucketExists(ctx, s.name)
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

// body returns a reader of data that reports progress to the watch. If the connection is not
// encrypted, it also returns the SHA-256 to be signed, so that nobody can change data in transit.
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
	b.watch.progress()
	return b.ReadSeeker.Read(p)
}

const crcHeader = "X-Amz-Checksum-Crc32"

func (s *s3Client) put(ctx context.Context, key string, data []byte, crc string, replace bool) error {
	headers := map[string]string{}
	if s.checksums {
		headers[crcHeader] = crc
	}
	return s.do(ctx, stallFactor, func(ctx context.Context, c *minio.Core, x *exchange) error {
		body, sum := s.body(x, data)
		_, err := c.PutObject(ctx, s.name, key, body, int64(len(data)), "", sum, s.putOptions(replace, headers))
		return err
	})
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
	err = s.do(ctx, 1, func(ctx context.Context, c *minio.Core, x *exchange) error {
		body, sum := s.body(x, data)
		_, err := c.PutObjectPart(ctx, s.name, key, id, number, body, int64(len(data)),
			minio.PutObjectPartOptions{Sha256Hex: sum, CustomHeader: header, DisableContentSha256: true})
		sent = part{x.header.Get("ETag"), x.header.Get(crcHeader)}
		return err
	})
	return sent, err
}

// finish completes an upload. If the storage verified the checksums of the parts, it is asked to
// verify that of the whole object.
func (s *s3Client) finish(ctx context.Context, key string, u upload, replace bool) error {
	headers := map[string]string{}
	if u.parts[0].crc32 != "" {
		headers["X-Amz-Checksum-Type"], headers[crcHeader] = "FULL_OBJECT", u.crc32
	}
	parts := make([]minio.CompletePart, len(u.parts))
	for i, p := range u.parts {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: p.etag, ChecksumCRC32: p.crc32}
	}
	return s.do(ctx, stallFactor, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		_, err := c.CompleteMultipartUpload(ctx, s.name, key, u.id, parts, s.putOptions(replace, headers))
		return err
	})
}

func (s *s3Client) abort(ctx context.Context, key, id string) error {
	return s.do(ctx, 1, func(ctx context.Context, c *minio.Core, _ *exchange) error {
		return c.AbortMultipartUpload(ctx, s.name, key, id)
	})
}

// useRegion makes the client send its next requests to a region.
func (s *s3Client) useRegion(region string) error {
	core, err := minio.NewCore(s.endpoint.Host, &minio.Options{Creds: s.keys, Secure: s.secure(), Transport: s.transport, Region: region,
		BucketLookup: s.lookup, MaxRetries: 1})
	if err != nil {
		return failed(fault.Usage, "the endpoint %s cannot be used: %s", scrub(s.endpoint.Host), scrub(err.Error()))
	}
	core.SetS3EnableDualstack(false) // AWS's private networks only know the other host names
	s.current.Store(&regionClient{core, region})
	return nil
}

// A recorder records each request in its exchange. It cancels the context of a request that failed,
// because minio-go would otherwise pause before it returns the error.
type recorder struct{ base http.RoundTripper }

// RoundTrip sends one request.
func (t recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return answer, err
	}
	x.progress()
	if x.err = err; err != nil {
		x.stop()
		return answer, err
	}
	x.status, x.header = answer.StatusCode, answer.Header
	bad := answer.StatusCode >= http.StatusMultipleChoices
	if !bad && r.Method != http.MethodPost { // S3 may complete an upload with status 200 and an error
		return answer, nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close()
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

// classify returns the error of a request as a *fault.Error. It quotes the code and the status,
// which are words of the protocol, and the server's message about an invalid request, scrubbed.
func (s *s3Client) classify(x *exchange, err error) error {
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
		return connectionError(x.err, "check the bucket's name, ?endpoint= and ?use_path_style=true")
	case status == 0:
		return failed(fault.IO, "the request could not be made: %s", scrub(err.Error()))
	case status < http.StatusMultipleChoices && x.answer.Code == "":
		return temporary("the connection was lost: %s", reason(err))
	case code == "NoSuchBucket":
		missing := messages[fault.Refused]
		return fault.New(fault.NotFound, "%s", missing.words).WithHint("%s", missing.hint).Because(fs.ErrNotExist) // as for files
	case code == "NoSuchUpload": // this 404 is about the upload, not the object
		return failed(fault.IO, "the upload no longer exists").WithHint("a lifecycle rule that aborts incomplete uploads must wait until the work is done")
	case status == http.StatusPreconditionFailed || code == "PreconditionFailed":
		return failed(fault.Exists, "")
	case s.redirected(x):
		return temporary("the bucket is in another region")
	case status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect:
		return failed(fault.IO, "the bucket is in another region").WithHint("name the region: ?region=eu-central-1, or AWS_REGION")
	case isTemporaryAnswer(code, status):
		return temporary("%s", text)
	case status == http.StatusNotFound || code == "NoSuchKey" || code == "NotFound":
		return failed(fault.NotFound, "")
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return failed(fault.Permission, "%s", text)
	case status == http.StatusRequestedRangeNotSatisfiable:
		return failed(fault.Changed, "")
	}
	return failed(fault.IO, "%s", strings.TrimSuffix(text+": "+scrub(x.answer.Message), ": ")).WithHint("check ?endpoint= and what the server supports")
}

// redirected reports whether the server refused a request because the bucket is in another region.
// If so, it makes the client use that region.
func (s *s3Client) redirected(x *exchange) bool {
	region := x.header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = x.answer.Region
	}
	moved := x.status == http.StatusMovedPermanently || x.status == http.StatusTemporaryRedirect || x.status == http.StatusBadRequest ||
		x.status == http.StatusForbidden && x.answer.Code != "AccessDenied"
	if !moved || !s.followRegion || region == "" || region == x.region {
		return false
	}
	return s.current.Load().region == region || s.useRegion(region) == nil // another request may have switched already
}
