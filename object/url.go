package object

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/idxport/idxport/fault"
)

// schemes are those of URLs that people write for inputs and outputs. Of these s3 is an object, and
// file is a path of this machine, which callers take out of the URL.
var schemes = []string{"s3", "file", "gs", "azblob"}

// An address names an object, or a prefix if the key is empty or ends with a slash.
type address struct{ scheme, bucket, key string }

// String is the URL without parameters.
func (a address) String() string { return a.root() + a.key }

// root is the URL of the bucket, with a slash.
func (a address) root() string { return a.scheme + "://" + a.bucket + "/" }

// needsKey is an error if the address is a prefix.
func (a address) needsKey() error {
	if a.key == "" || strings.HasSuffix(a.key, "/") {
		return failed(fault.Usage, "expected a key, which does not end with a slash").In(a.String())
	}
	return nil
}

// IsURL reports whether name begins as a URL that package object reads, or refuses with a hint.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && slices.Contains(schemes, scheme)
}

// bucketName is what S3 takes for a bucket; above all it has no user and password before an @.
var bucketName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)
})

// parse reads an address. Keys are taken as they are, without escapes of URLs.
func parse(name string) (address, error) {
	scheme, rest, _ := strings.Cut(name, "://")
	bucket, key, _ := strings.Cut(rest, "/")
	a := address{scheme, bucket, key}
	refuse := func(where, text string) (address, error) { return a, failed(fault.Usage, "%s", text).In(where) }
	switch scheme {
	case "s3":
		if !bucketName().MatchString(bucket) { // what stands there may be a password: it is not shown
			return refuse("a URL that begins with s3://", "expected a bucket of 3 to 63 letters, digits, dots and dashes, then a slash and the key")
		}
	case "file":
		if bucket != "" || key == "" {
			return refuse("a URL that begins with file://", "expected file:/// and an absolute path")
		}
	case "gs", "azblob":
		return a, failed(fault.Usage, "this storage is not supported, expected s3://").In("a URL that begins with " + scheme + "://").
			WithHint("name a server that speaks S3 by s3://BUCKET/KEY?endpoint=https://HOST, or copy the file to this machine")
	default:
		return refuse("the URL", "expected one that begins with s3:// or file://")
	}
	if strings.ContainsFunc(key, unicode.IsControl) || slices.Contains(strings.Split(key, "/"), "..") {
		return refuse(a.String(), "keys with control characters or .. are not supported")
	}
	return a, nil
}

// at is where the URL in an argument begins, which is one or has a name or a format before it:
// image=s3://…; −1 if there is none.
func at(arg string) int {
	if IsURL(arg) {
		return 0
	}
	if i := strings.IndexByte(arg, '='); i >= 0 && !strings.Contains(arg[:i], "/") && IsURL(arg[i+1:]) {
		return i + 1
	}
	return -1
}

// paramStall is the parameter of URLs that sets Options.Stall.
const paramStall = "stall"

// parameters are what a URL may say behind its question mark. None of them is a secret.
var parameters = []string{"endpoint", "region", "use_path_style", "profile", "anonymous", "request_checksum_calculation", "response_checksum_validation", paramStall}

// parseQuery reads the parameters of the URL a. Values are not shown: people put secrets there.
func parseQuery(a address, query string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, failed(fault.Usage, "what follows the question mark is not NAME=VALUE&…").In(a.String())
	}
	if a.scheme == "file" {
		return nil, failed(fault.Usage, "a file has no parameters, and a path with a question mark cannot be written as a URL").In(a.String()).
			WithHint("write the path without file://")
	}
	for name, all := range values {
		if !slices.Contains(parameters, name) {
			return nil, failed(fault.Usage, "unknown parameter %s, expected some of %s", scrub(name), strings.Join(parameters, ", ")).In(a.String()).
				WithHint("credentials do not belong into a URL: they are found as AWS's own programs find them")
		}
		if len(all) > 1 {
			return nil, failed(fault.Usage, "the parameter %s is given twice", name).In(a.String())
		}
	}
	return values, nil
}

// errorAt puts the URL of the object before an error that the rest of the package made.
func errorAt(a address, err error) error {
	var known *fault.Error
	var over *abandoned
	switch {
	case err == nil:
		return nil
	case errors.As(err, &over):
		return over.cause
	case errors.As(err, &known):
		return fault.In(a.String(), known)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return failed(fault.IO, "%s", scrub(err.Error())).In(a.String())
}
