//go:build !lean

package object

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/idxport/idxport/fault"
)

// An s3Bucket reads as all others do, and writes by itself: the Go CDK cannot send an object without making it seen.
type s3Bucket struct {
	kit
	client    *s3.Client
	name      string
	checksums bool // the storage may be asked to check them
}

// defaultRegion is for servers that have none.
const defaultRegion = "us-east-1"

// openS3 opens a bucket of S3, or of a server like it.
func openS3(ctx context.Context, name string, q url.Values) (bucket, error) {
	endpoint, pathStyle := q.Get("endpoint"), q.Get("use_path_style")
	inPath, err := strconv.ParseBool(pathStyle)
	if pathStyle != "" && err != nil {
		return nil, &failure{kind: ErrURL, text: "the parameter use_path_style is neither true nor false"}
	}
	if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
		return nil, &failure{kind: ErrURL, text: "the parameter endpoint is no URL such as https://storage.example.org"}
	}
	cfg, err := s3Config(ctx, q)
	if err != nil {
		return nil, &failure{kind: ErrURL, text: "its parameters, or the configuration of this machine, cannot be used: " + scrub(err.Error())}
	}
	if cfg.Region == "" {
		cfg.Region = defaultRegion
	}
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	if cfg.Credentials != nil && q.Get("anonymous") != "true" {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			return nil, &failure{kind: ErrDenied, text: "no credentials found"}
		}
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = inPath
		o.DisableLogOutputChecksumValidationSkipped = true
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	})
	b, err := s3blob.OpenBucket(ctx, client, name, &s3blob.Options{RequestChecksumCalculation: cfg.RequestChecksumCalculation})
	if err != nil {
		return nil, s3Failure(err)
	}
	checksums := cfg.RequestChecksumCalculation != aws.RequestChecksumCalculationWhenRequired
	return &s3Bucket{kit{bucket: b, demand: demandETag, check: checkRange, failure: s3Failure}, client, name, checksums}, nil
}

// checksumModes are the values of the parameters about checksums. Both types of the SDK number them
// alike.
var checksumModes = map[string]aws.RequestChecksumCalculation{"": aws.RequestChecksumCalculationUnset,
	"when_supported": aws.RequestChecksumCalculationWhenSupported, "when_required": aws.RequestChecksumCalculationWhenRequired}

// s3Config is the configuration of this machine, with what the parameters say. It must have its
// logger from the start: else the SDK writes to standard error while it looks for credentials.
func s3Config(ctx context.Context, q url.Values) (aws.Config, error) {
	request, known := checksumModes[strings.ToLower(q.Get("request_checksum_calculation"))]
	response, alsoKnown := checksumModes[strings.ToLower(q.Get("response_checksum_validation"))]
	if !known || !alsoKnown {
		return aws.Config{}, errors.New("checksums are when_supported or when_required")
	}
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{}), config.WithRegion(q.Get("region")), config.WithSharedConfigProfile(q.Get("profile")),
		config.WithRequestChecksumCalculation(request), config.WithResponseChecksumValidation(aws.ResponseChecksumValidation(response))}
	anonymous, err := strconv.ParseBool(q.Get("anonymous"))
	if q.Has("anonymous") && err != nil {
		return aws.Config{}, errors.New("anonymous is true or false")
	}
	if anonymous {
		options = append(options, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	return config.LoadDefaultConfig(ctx, options...)
}

// demandETag makes a request that is refused if the object is another.
func demandETag(version identity, as func(any) bool) {
	var in *s3.GetObjectInput
	if as(&in) && version.etag != "" {
		in.IfMatch = aws.String(version.etag)
	}
}

// checkRange compares what the answer says of itself with what was asked for: not every server knows conditions and ranges.
func checkRange(version identity, offset, n int64, r *blob.Reader) error {
	var out s3.GetObjectOutput
	if !r.As(&out) {
		return nil
	}
	if found := aws.ToString(out.ETag); found != version.etag || r.Size() != version.size {
		return &failure{kind: fault.Changed}
	}
	whole := offset == 0 && n == version.size && out.ContentRange == nil
	if want := fmt.Sprintf("bytes %d-%d/", offset, offset+n-1); !whole && !strings.HasPrefix(aws.ToString(out.ContentRange), want) {
		return &failure{kind: ErrTransfer, text: "the server did not send the range that was asked for", again: true}
	}
	return nil
}

// plainCode matches what an error code of S3 is made of; what is not may be anything.
var plainCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`) })

// s3Failure is what an error of S3 means. The code and the status are quoted, as both are words of the protocol, and what the server says about a request that it
// finds wrong as far as that shows no secret.
func s3Failure(err error) error {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	var api smithy.APIError
	var response *awshttp.ResponseError
	code, status := "", 0
	if errors.As(err, &api) && plainCode().MatchString(api.ErrorCode()) {
		code = api.ErrorCode()
	}
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	text := code
	if status > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s (status %d)", code, status))
	}
	switch {
	case api == nil && status < http.StatusBadRequest: // there was no answer, or half of one
		return unanswered(err)
	case code == "NoSuchBucket":
		return &failure{kind: ErrNotFound, text: "there is no such bucket"}
	case code == "NoSuchUpload", code == "InvalidPart": // not the object
		return &failure{kind: ErrNoUpload, text: code}
	case status == http.StatusPreconditionFailed || code == "PreconditionFailed":
		return &failure{kind: ErrExists}
	case status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect:
		return &failure{kind: ErrTransfer, text: "the bucket is in another region", hint: "name the region: ?region=eu-central-1, or AWS_REGION"}
	case fleeting(code, status):
		return &failure{kind: ErrTransfer, text: text, again: true}
	case status == http.StatusNotFound || code == "NoSuchKey" || code == "NotFound":
		return &failure{kind: ErrNotFound}
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return &failure{kind: ErrDenied, text: text}
	case status == http.StatusRequestedRangeNotSatisfiable:
		return &failure{kind: fault.Changed}
	}
	if api != nil {
		text = strings.TrimSuffix(text+": "+scrub(api.ErrorMessage()), ": ")
	}
	return &failure{kind: ErrTransfer, text: text, hint: "check the server's ?endpoint= and what it supports"}
}

// fleeting tells whether an answer may be another one the next time: errors of the server, too many requests, another request for the same key at the same
// time, and bytes that were lost or damaged on their way.
func fleeting(code string, status int) bool {
	switch code {
	case "SlowDown", "RequestTimeout", "RequestTimeTooSkewed", "InternalError", "ServiceUnavailable", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch",
		"XAmzContentChecksumMismatch", "OperationAborted", "ConditionalRequestConflict", "Throttling", "ThrottlingException", "RequestLimitExceeded":
		return true
	}
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// unanswered is the failure of a request that got no answer. A name or a certificate that is wrong will be so the next time.
func unanswered(err error) error {
	var name *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return &failure{kind: ErrTransfer, text: reason(err), hint: "check the bucket's name, ?endpoint= and ?use_path_style=true"}
	case errors.As(err, &authority), errors.As(err, &host):
		return &failure{kind: ErrTransfer, text: "the server's certificate is not trusted"}
	}
	return &failure{kind: ErrTransfer, text: "no answer: " + reason(err), again: true}
}
