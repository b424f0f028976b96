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
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/internal/fault"
)

// stallFactor multiplies Options.Stall for the request that assembles an object.
const stallFactor = 10

// An s3Client is a bucket of S3, or of a server like it. minio-go repeats requests that failed.
type s3Client struct {
	core      *minio.Core
	options   *minio.Options
	stall     time.Duration
	endpoint  *url.URL
	name      string // of the bucket
	checksums bool   // send checksums, which the storage compares
}

// connect opens a bucket of S3, or of a server like it.
func connect(name string, query url.Values, o Options, transport http.RoundTripper) (*client, error) {
	e := readSettings(query)
	s := &s3Client{name: name, stall: o.Stall, endpoint: e.endpoint(), checksums: e.checksums()}
	s.options = &minio.Options{Secure: s.endpoint.Scheme == "https", Transport: transport, Region: e.region(),
		MaxRetries: o.Attempts, Creds: credentials.NewStatic("", "", "", credentials.SignatureAnonymous)}
	// A host name has no such characters, or no wildcard certificate covers it. The default is a
	// path, as in AWS's own programs with an endpoint, but not for Amazon, Google and Alibaba.
	if e.isTrue("use_path_style") || strings.ContainsAny(name, "._") || name != strings.ToLower(name) {
		s.options.BucketLookup = minio.BucketLookupPath
	} else if e.query.Has("use_path_style") {
		s.options.BucketLookup = minio.BucketLookupDNS
	}
	if s.endpoint.Host != amazon { // S3 itself is asked for the region of the bucket
		s.options.Region = cmp.Or(s.options.Region, "us-east-1")
	}
	if !e.isTrue("anonymous") {
		s.options.Creds = credentials.New(e.provider())
	}
	if e.err != nil {
		return nil, e.err
	}
	s.core, e.err = s.newCore(transport)
	return &client{o, s.head, s.read, s.list, s.begin, s.send, s.finish, s.abort}, e.err
}

func (s *s3Client) newCore(transport http.RoundTripper) (*minio.Core, error) {
	o := *s.options
	o.Transport = transport
	core, err := minio.NewCore(s.endpoint.Host, &o)
	if err != nil {
		return nil, failed(fault.Usage, "the endpoint cannot be used: %s", scrub(err.Error()))
	}
	core.SetS3EnableDualstack(false) // AWS's private networks only know the other host names
	return core, nil
}

// markKey is the name of the metadata that holds the mark of an upload.
const markKey = "Idxport-Upload"

func (s *s3Client) head(ctx context.Context, key string) (identity, error) {
	info, err := s.core.StatObject(ctx, s.name, key, minio.StatObjectOptions{})
	if err == nil && info.Size < 0 {
		err = failed(fault.IO, "found an object without a length")
	}
	return identity{size: info.Size, modTime: info.LastModified, etag: info.Headers.Get("ETag"),
		mark: info.UserMetadata[markKey]}, classify(ctx, err)
}

func (s *s3Client) read(ctx context.Context, key string, v identity, offset int64, p []byte) (got int, err error) {
	var o minio.GetObjectOptions
	o.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(p))-1))
	if v.etag != "" {
		o.Set("If-Match", v.etag)
	}
	body, info, header, err := s.core.GetObject(ctx, s.name, key, o)
	if err != nil {
		return 0, classify(ctx, err)
	}
	defer body.Close()
	got, err = receive(header, info.Size, body, header.Get("ETag") == v.etag, v, offset, p)
	return got, classify(ctx, err)
}

func (s *s3Client) list(ctx context.Context, prefix string, limit int) (found []fs.DirEntry, err error) {
	core, err := s.newCore(&guard{RoundTripper: s.options.Transport})
	if err != nil {
		return nil, err
	}
	o := minio.ListObjectsOptions{Prefix: prefix, FetchOwner: new(bool), MaxKeys: min(limit, 1000)}
	for o := range core.ListObjectsIter(ctx, s.name, o) {
		i := info{name: path.Base(o.Key), size: o.Size, modTime: o.LastModified, folder: strings.HasSuffix(o.Key, "/")}
		if o.Key == prefix { // an empty object that some programs make for a folder
			i = info{}
		}
		found = append(found, fs.FileInfoToDirEntry(i))
		switch {
		case o.Err != nil:
			return nil, classify(ctx, o.Err)
		case len(found) > maxEntries:
			return nil, endless()
		case len(found) == limit:
			return found, nil
		}
	}
	return found, classify(ctx, ctx.Err()) // the iterator stops without an error if the context has ended
}

// putOptions returns the options of a request that begins an upload or makes an object visible.
func putOptions(u upload, headers map[string]string) minio.PutObjectOptions {
	headers[markKey] = u.mark
	// Without DisableContentSha256, minio-go would send small signed pieces.
	return minio.PutObjectOptions{UserMetadata: headers, DisableContentSha256: true}
}

// sum returns the SHA-256 to be signed if the connection is not encrypted.
func (s *s3Client) sum(data []byte) string {
	if s.options.Secure {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

const crcHeader = "X-Amz-Checksum-Crc32"

func (s *s3Client) begin(ctx context.Context, key string, u upload) (id string, err error) {
	headers := map[string]string{}
	if s.checksums {
		headers["X-Amz-Checksum-Algorithm"], headers["X-Amz-Checksum-Type"] = "CRC32", "FULL_OBJECT"
	}
	id, err = s.core.NewMultipartUpload(ctx, s.name, key, putOptions(u, headers))
	return id, classify(ctx, err)
}

func (s *s3Client) send(ctx context.Context, key, id string, number int, data []byte) (part, error) {
	o := minio.PutObjectPartOptions{Sha256Hex: s.sum(data), CustomHeader: http.Header{}, DisableContentSha256: true}
	if s.checksums {
		o.CustomHeader.Set(crcHeader, checksum(crc32.ChecksumIEEE(data)))
	}
	p, err := s.core.PutObjectPart(ctx, s.name, key, id, number, bytes.NewReader(data), int64(len(data)), o)
	return part{p.ETag, p.ChecksumCRC32}, classify(ctx, err) // without quotes, which every server accepts
}

// finish sends an object in one request, or completes its upload. If the storage verified the
// checksums of the parts, it is asked to verify that of the whole object.
func (s *s3Client) finish(ctx context.Context, key string, u upload) error {
	headers := map[string]string{}
	parts := make([]minio.CompletePart, len(u.parts))
	for i, p := range u.parts {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: p.etag, ChecksumCRC32: p.crc32}
		headers["X-Amz-Checksum-Type"] = "FULL_OBJECT"
	}
	if s.checksums && (u.id == "" || u.parts[0].crc32 != "") {
		headers[crcHeader] = u.crc32
	} else {
		clear(headers)
	}
	o := putOptions(u, headers)
	if !u.replace {
		o.SetMatchETagExcept("*")
	}
	if u.id != "" {
		slow, err := s.newCore(newTransport(stallFactor*s.stall, nil))
		if err == nil {
			_, err = slow.CompleteMultipartUpload(ctx, s.name, key, u.id, parts, o)
		}
		return classify(ctx, err)
	}
	_, err := s.core.PutObject(ctx, s.name, key, bytes.NewReader(u.data), int64(len(u.data)), "", s.sum(u.data), o)
	return classify(ctx, err)
}

func (s *s3Client) abort(ctx context.Context, key, id string) error {
	return classify(ctx, s.core.AbortMultipartUpload(ctx, s.name, key, id))
}

// classify returns the error of a request as a *fault.Error, or the cause of the context's end.
func classify(ctx context.Context, err error) error {
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok && ctx.Err() == nil {
		return answerError(answer)
	}
	return requestError(ctx, err, "check the bucket's name and ?endpoint=")
}

// answerError returns the error for an answer that is an error. It quotes the code and the status,
// which are words of the protocol, and the server's message about an invalid request, scrubbed.
func answerError(answer minio.ErrorResponse) error {
	code, status := answer.Code, answer.StatusCode
	if !errorCode().MatchString(code) {
		code = ""
	}
	text := strings.TrimSpace(fmt.Sprintf("%s (status %d)", code, status))
	switch {
	case status == 0:
		return failed(fault.IO, "the request could not be made: %s", scrub(answer.Error()))
	case code == "NoSuchBucket":
		return failed(fault.NotFound, "the bucket does not exist")
	case code == "NoSuchUpload": // this 404 is about the upload, not the object
		return failed(fault.IO, "the upload no longer exists").
			WithHint("a lifecycle rule that aborts incomplete uploads must wait until the work is done")
	case code == "PreconditionFailed":
		return failed(fault.Exists, "")
	case status < http.StatusMultipleChoices: // the error is in the body
		return temporary("%s", code)
	case status < http.StatusBadRequest, status == http.StatusBadRequest && answer.Region != "":
		return failed(fault.IO, "the bucket is in another region: %s", scrub(cmp.Or(answer.Region, "not named"))).
			WithHint("name the region: ?region=eu-central-1, or AWS_REGION")
	}
	if status < http.StatusInternalServerError && kinds[status] == "" { // the message is about an invalid request
		text = strings.TrimSuffix(text+": "+scrub(answer.Message), ": ")
	}
	return statusError(status, text, "check ?endpoint= and what the server supports")
}
