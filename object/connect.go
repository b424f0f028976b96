//go:build !lean

package object

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
)

// connect opens a bucket of S3, or of a server like it.
func connect(ctx context.Context, name string, query url.Values, o Options) (client, error) {
	s, err := newS3Client(ctx, name, query, o)
	if err != nil {
		return client{}, err
	}
	return client{s.head, s.read, s.list, s.hasBucket, s.put, s.remove, s.begin, s.send, s.finish, s.abort, s.parts, s.uploads}, nil
}

func newS3Client(ctx context.Context, name string, query url.Values, o Options) (*s3Client, error) {
	e := readEnvironment(query)
	s := &s3Client{name: name, patience: o, endpoint: e.endpoint(), follow: !query.Has("region"),
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
	return s, s.in(e.region())
}

// notHost reports whether a character makes a bucket's name one that is no name of a host, or not of
// one that a certificate for all buckets is good for.
func notHost(r rune) bool { return r == '.' || r == '_' || r >= 'A' && r <= 'Z' }

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
