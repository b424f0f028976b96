package object

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// An address names an object, or a prefix if the key is empty or ends with a slash. On a web
// server, bucket is the host, and key the path as it is requested, with escapes.
type address struct{ scheme, bucket, key string }

// String is the URL without parameters.
func (a address) String() string { return a.scheme + "://" + a.bucket + "/" + a.key }

// root returns the URL under which a Store keeps the client of an address: that of the bucket,
// with a slash at the end, or that of the file on a web server.
func (a address) root() string {
	if !a.isWeb() {
		a.key = ""
	}
	return a.String()
}

func (a address) isWeb() bool { return a.scheme == "https" || a.scheme == "http" }

// hasKey reports whether the address is not a prefix.
func (a address) hasKey() bool { return a.key != "" && !strings.HasSuffix(a.key, "/") }

// bucketName matches the name of a bucket, without a user and password before an @.
var bucketName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)

// parse parses a URL without parameters. It does not decode escapes such as %20.
func parse(name string) (address, error) {
	scheme, rest, _ := strings.Cut(name, ":/")
	rest, both := strings.CutPrefix(rest, "/")
	bucket, key, _ := strings.Cut(rest, "/")
	a := address{scheme, bucket, key}
	switch {
	case !both:
		return a, failed(fault.Usage, "found one slash, expected two: pathlib of Python removes one").In(scheme + ":/…")
	case a.isWeb():
		if err := a.checkWeb(); err != nil {
			return a, err
		}
	case scheme != "s3":
		return a, failed(fault.Usage, "expected s3:// or https://").In(scheme + "://…").
			WithHint("give the path of a local copy or, for a server like S3, s3://BUCKET/KEY?endpoint=https://HOST")
	case !bucketName().MatchString(bucket): // the message does not show it, as it may contain a password
		return a, failed(fault.Usage, "expected a bucket of 3 to 63 letters, digits, dots and dashes").In("s3://…")
	}
	if strings.ContainsFunc(key, unicode.IsControl) || slices.Contains(strings.Split(key, "/"), "..") {
		return a, failed(fault.Usage, "keys with control characters or .. are not supported").In(a.String())
	}
	return a, nil
}

// checkWeb returns an error if the address is not that of a file on a web server. It does not show
// the URL, as it may contain a password.
func (a address) checkWeb() error {
	u, err := url.Parse(a.String())
	e := failed(fault.Usage, "expected a host, a slash and the path of a file to read").In(a.scheme + "://…")
	switch {
	case err != nil && strings.Contains(a.bucket, "@") || err == nil && u.User != nil:
		e.Msg = "bad URL: users and passwords are not supported, as others can see command lines"
		return e.WithHint("download the file with a program that reads ~/.netrc, such as curl --netrc")
	case err != nil || u.Hostname() == "" || !a.hasKey() || strings.Contains(a.key, "#"):
		return e.WithHint("name each file, as in %s://HOST/images.gz, with %%23 for # and %%25 for %%", a.scheme)
	}
	return nil
}

// parameters are those of URLs. None of them is a secret.
var parameters = []string{"endpoint", "region", "use_path_style", "profile", "anonymous",
	"request_checksum_calculation", "stall"}

// checkQuery refuses all but known parameters. Its error shows no values, which may be secrets.
func checkQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return failed(fault.Usage, "expected NAME=VALUE&… after the question mark")
	}
	for name, all := range values {
		switch {
		case !slices.Contains(parameters, name):
			known := strings.Join(parameters, ", ")
			e := failed(fault.Usage, "unknown parameter %s, expected one of %s", scrub(name), known)
			if isSuspicious(name) || strings.Contains(strings.ToLower(name), "key") {
				e = e.WithHint("credentials do not belong in a URL: they are found where AWS's own programs find them")
			}
			return e
		case len(all) > 1:
			return failed(fault.Usage, "the parameter %s is given twice", name)
		}
	}
	return nil
}

// errorAt adds the URL of the object to an error of this package.
func errorAt(a address, err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return fault.In(a.String(), known)
	}
	return err
}
