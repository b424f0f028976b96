package object

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// schemes are the kinds of storage that are known, whether or not this build has them.
var schemes = []string{"s3", "gs", "azblob", "file"}

// An address names an object, or a prefix if the key is empty or ends with a slash.
type address struct{ scheme, bucket, key string }

// String is the URL without parameters.
func (a address) String() string { return a.root() + a.key }

// root is the URL of the bucket, with a slash.
func (a address) root() string { return a.scheme + "://" + a.bucket + "/" }

// needsKey is an error if the address is a prefix.
func (a address) needsKey() error {
	if a.key == "" || strings.HasSuffix(a.key, "/") {
		return &Error{URL: a.String(), Reason: "expected a key, which does not end with a slash", Err: ErrURL}
	}
	return nil
}

// IsURL tells whether name begins as a URL of a kind that is known.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && slices.Contains(schemes, scheme)
}

// bucketName is what all storages take for a bucket; above all it has no user and password before an @.
var bucketName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
})

// parse reads an address. Keys are taken as they are, without escapes of URLs.
func parse(name string) (address, error) {
	scheme, rest, _ := strings.Cut(name, "://")
	bucket, key, _ := strings.Cut(rest, "/")
	a := address{scheme, bucket, key}
	if !slices.Contains(schemes, scheme) {
		return a, &Error{URL: "the URL", Reason: "expected one that begins with s3://, gs://, azblob:// or file://", Err: ErrURL}
	}
	if scheme == "file" && (bucket != "" || key == "") {
		return a, &Error{URL: "a URL that begins with file://", Reason: "expected file:/// and an absolute path", Err: ErrURL}
	}
	if scheme != "file" && !bucketName().MatchString(bucket) { // what stands there may be a password: it is not shown
		return a, &Error{URL: "a URL that begins with " + scheme + "://", Reason: "expected a bucket of letters, digits, dots and dashes, then a slash and the key", Err: ErrURL}
	}
	if strings.ContainsFunc(key, unicode.IsControl) || slices.Contains(strings.Split(key, "/"), "..") {
		return a, &Error{URL: a.String(), Reason: "keys with control characters or .. are not supported", Err: ErrURL}
	}
	return a, nil
}

// at is where the URL in an argument begins, which is one or has a name or a format before it: image=s3://…; −1 if there is none.
func at(arg string) int {
	if IsURL(arg) {
		return 0
	}
	if i := strings.IndexByte(arg, '='); i >= 0 && !strings.Contains(arg[:i], "/") && IsURL(arg[i+1:]) {
		return i + 1
	}
	return -1
}

// parameters are what a URL may say behind its question mark, by scheme. None of them is a secret.
func parameters(scheme string) []string {
	switch scheme {
	case "s3":
		return []string{"endpoint", "region", "use_path_style", "profile", "anonymous", "request_checksum_calculation", "response_checksum_validation"}
	case "gs":
		return []string{"anonymous"}
	case "azblob":
		return []string{"storage_account", "domain", "protocol", "localemu"}
	}
	return nil
}

// parseQuery reads the parameters of the URL a; stall is ours, the others are for the driver. Values are not shown: people put secrets there.
func parseQuery(a address, query string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, &Error{URL: a.String(), Reason: "what follows the question mark is not NAME=VALUE&…", Err: ErrURL}
	}
	known := append(parameters(a.scheme), paramStall)
	for name, all := range values {
		if !slices.Contains(known, name) {
			return nil, &Error{URL: a.String(), Reason: fmt.Sprintf("unknown parameter %s, expected some of %s", scrub(name), strings.Join(known, ", ")), Err: ErrURL,
				hint: "credentials do not belong into a URL: they are found as the cloud's own programs find them"}
		}
		if len(all) > 1 {
			return nil, &Error{URL: a.String(), Reason: "the parameter " + name + " is given twice", Err: ErrURL}
		}
	}
	return values, nil
}

// ErrURL is the sentinel for a URL that is none, or that has parameters that are not known.
var ErrURL = errors.New("bad URL")
