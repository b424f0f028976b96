//go:build !lean

package object

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
)

// settings are how a bucket is reached.
type settings struct {
	patience  Options
	endpoint  *url.URL
	region    string
	follow    bool // the region may be another, as the server says
	lookup    minio.BucketLookupType
	secure    bool
	checksums bool // the storage is asked to compare them
	validate  bool // and to say them
	keys      *credentials.Credentials
	transport http.RoundTripper
}

// connect opens a bucket of S3, or of a server like it.
func connect(ctx context.Context, name string, query url.Values, o Options) (client, error) {
	e, err := readEnvironment(query)
	if err != nil {
		return client{}, err
	}
	set := &settings{patience: o, region: e.region(), follow: !query.Has("region")}
	if set.endpoint, err = e.endpoint(); err != nil {
		return client{}, err
	}
	anonymous, err := e.boolean("anonymous")
	if err != nil {
		return client{}, err
	}
	inPath, err := e.boolean("use_path_style")
	if err != nil {
		return client{}, err
	}
	set.secure, set.lookup = set.endpoint.Scheme == "https", minio.BucketLookupDNS
	if _, err := netip.ParseAddr(set.endpoint.Hostname()); inPath || err == nil || strings.ContainsFunc(name, notHost) {
		set.lookup = minio.BucketLookupPath
	}
	if set.checksums, err = e.whenSupported("request_checksum_calculation"); err != nil {
		return client{}, err
	}
	if set.validate, err = e.whenSupported("response_checksum_validation"); err != nil {
		return client{}, err
	}
	base, err := newTransport()
	if err != nil {
		return client{}, err
	}
	set.transport, set.keys = recorder{base}, credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	if !anonymous {
		set.keys = credentials.New(&keyProvider{environment: e, client: &http.Client{Transport: base}})
		if _, err := set.keys.GetWithContext(&credentials.CredContext{Context: ctx}); err != nil {
			return client{}, err
		}
	}
	s := &s3Client{settings: set, name: name}
	return client{s.head, s.read, s.list, s.hasBucket, s.put, s.remove, s.begin, s.send, s.finish, s.abort, s.parts, s.uploads}, s.in(set.region)
}

// notHost reports whether a character makes a bucket's name one that is no name of a host, or not of
// one that a certificate for all buckets is good for.
func notHost(r rune) bool { return r == '.' || r == '_' || r >= 'A' && r <= 'Z' }

// in makes requests go to a region.
func (s *s3Client) in(region string) error {
	core, err := minio.NewCore(s.endpoint.Host, &minio.Options{Creds: s.keys, Secure: s.secure, Transport: s.transport, Region: region,
		BucketLookup: s.lookup, MaxRetries: 1})
	if err != nil {
		return failed(fault.Usage, "the endpoint %s cannot be used: %s", scrub(s.endpoint.Host), scrub(err.Error()))
	}
	core.SetS3EnableDualstack(false) // hosts that networks of AWS know by the names without
	s.core.Store(core)
	return nil
}

// newTransport is what requests go through: the proxies of the environment, and besides the
// certificates of this machine those of AWS_CA_BUNDLE.
func newTransport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // or what was uploaded as Content-Encoding: gzip would be unpacked
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if path := os.Getenv("AWS_CA_BUNDLE"); path != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		text, err := os.ReadFile(path)
		if err != nil || !pool.AppendCertsFromPEM(text) {
			return nil, failed(fault.Usage, "found no certificates in the file that AWS_CA_BUNDLE names")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
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

// elsewhere reports whether a server has refused a request because the bucket is in another region,
// to which the next requests go.
func (s *s3Client) elsewhere(x *exchange) bool {
	region := x.header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = x.answer.Region
	}
	moved := x.status == http.StatusMovedPermanently || x.status == http.StatusTemporaryRedirect || x.status == http.StatusBadRequest ||
		x.status == http.StatusForbidden && x.answer.Code != "AccessDenied"
	if !moved || !s.follow || region == "" || region == s.region {
		return false
	}
	return s.in(region) == nil
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

// boolean is a parameter that is true or false.
func (e *environment) boolean(name string) (bool, error) {
	is, err := strconv.ParseBool(e.query.Get(name))
	if e.query.Has(name) && err != nil {
		return false, failed(fault.Usage, "the parameter %s is neither true nor false", name)
	}
	return is, nil
}

// whenSupported reports whether a setting about checksums asks for them.
func (e *environment) whenSupported(name string) (bool, error) {
	switch strings.ToLower(e.get(name, "AWS_"+strings.ToUpper(name))) {
	case "", "when_supported":
		return true, nil
	case "when_required":
		return false, nil
	}
	return false, failed(fault.Usage, "%s is neither when_supported nor when_required", name)
}
