package object

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// home makes the shared files of AWS, and hides all other sources of credentials.
func home(t *testing.T, config, keys string) {
	t.Helper()
	dir := t.TempDir()
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for name, text := range map[string]string{"CONFIG": config, "SHARED_CREDENTIALS": keys} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		t.Setenv("AWS_"+name+"_FILE", path)
	}
}

// TestSettings reads parameters, variables and files as documented in docs/object-storage.md and
// AWS's reference.
func TestSettings(t *testing.T) {
	home(t, `# a comment
[default]
region = eu-west-1 # another
s3 =
    region = nested
[profile dev]
region=eu-central-1
endpoint_url = http://dev:9000
request_checksum_calculation = when_required
aws_access_key_id = of-the-config
[dev]
region = not a profile
`, "[dev]\naws_access_key_id = of-the-keys\n[default]\naws_access_key_id = x\n")
	for _, c := range []struct {
		query, variables, region, endpoint string
		checksums                          bool
	}{
		{"", "", "eu-west-1", "https://s3.amazonaws.com", true},
		{"profile=dev", "", "eu-central-1", "http://dev:9000", false},
		{"", "AWS_PROFILE=dev", "eu-central-1", "http://dev:9000", false},
		{"region=x", "AWS_PROFILE=dev AWS_REGION=y", "x", "http://dev:9000", false},
		{"request_checksum_calculation=when_supported", "AWS_PROFILE=dev AWS_REGION=y", "y", "http://dev:9000", true},
		{"endpoint=http://a", "AWS_ENDPOINT_URL_S3=http://b", "eu-west-1", "http://a", true},
		{"", "AWS_ENDPOINT_URL_S3=http://b AWS_ENDPOINT_URL=http://c", "eu-west-1", "http://b", true},
	} {
		t.Run(c.query+" "+c.variables, func(t *testing.T) {
			for _, v := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			query, _ := url.ParseQuery(c.query)
			e := readSettings(query)
			r, u, sums := e.region(), e.endpoint().String(), e.checksums()
			if r != c.region || u != c.endpoint || sums != c.checksums || e.err != nil {
				t.Errorf("found %s, %s, %v, %v", r, u, sums, e.err)
			}
		})
	}
	if got := readSettings(url.Values{"profile": {"dev"}}).profile["aws_access_key_id"]; got != "of-the-keys" {
		t.Errorf("found %s, expected what the file of credentials says", got)
	}
	for _, query := range []string{"anonymous=maybe", "use_path_style=maybe", "request_checksum_calculation=maybe",
		"profile=none", "endpoint=x", "endpoint=ftp://x", "endpoint=http://u:p@x", "endpoint=http://x/path",
		"endpoint=http://[x", "stall=soon"} {
		s := &Store{Options: quick}
		name, err := s.ParseArg("s3://bkt/x?" + query)
		if err == nil {
			_, err = s.Open(t.Context(), name)
		}
		refuses(t, query, err, fault.Usage, "s3://bkt/x: ", "")
	}
}

// TestRefusedConnections has servers that refuse all connections: there is one warning at once, and
// the end comes soon. Nothing listens on port 1.
func TestRefusedConnections(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"http://127.0.0.1:1/x", "s3://bkt/x?anonymous=true&endpoint=http://127.0.0.1:1"} {
		var warnings []string
		warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
		begin := time.Now()
		_, err := open(t, &Store{Warn: warn}, name)
		want := []string{"127.0.0.1:1 refused the connection; trying again for up to five seconds"}
		if d := time.Since(begin); !errors.Is(err, fault.IO) || d > 6*time.Second || !slices.Equal(warnings, want) {
			t.Errorf("%s: found %v after %v, and the warnings %q, expected %q", name, err, d, warnings, want)
		}
	}
}

// TestRefusedSettings has settings that AWS's programs follow and this one does not.
func TestRefusedSettings(t *testing.T) {
	noFile, code := "no such file", "exit status 1"
	if runtime.GOOS == "windows" { // which has other words, and no cat
		noFile, code = "no credentials found", "no credentials found"
	}
	const role, half = "the profile x assumes a role", "only one of AWS_ACCESS_KEY_ID and"
	for _, c := range []struct{ config, query, variable, says, hint string }{ // AWS_PROFILE is x, too
		{"role_arn = arn:aws:iam::1:role/x\nsource_profile = y", "", "", role,
			`eval "$(aws configure export-credentials --profile x --format env)"`},
		{"role_arn = r\ncredential_source = Environment", "profile=x", "", role, "without ?profile="},
		{"role_arn = r\nweb_identity_token_file = f\nmfa_serial = m", "", "", role, "aws configure"},
		{"credential_process = \"/a b/c\" d", "", "", "no credentials found: ", "aws configure"},
		{"", "", "AWS_ACCESS_KEY_ID=x", half, "set AWS_ACCESS_KEY_ID and"},
		{"", "", "AWS_SECRET_ACCESS_KEY=x", half, "set AWS_ACCESS_KEY_ID and"},
		{"aws_access_key_id = x", "", "", "partial static", "AWS_PROFILE"},
		{"sso_account_id = 1\nsso_role_name = r\nsso_start_url = https://x\nsso_region = r", "", "", noFile,
			"aws sso login --profile x"},
		{"credential_process = cat /no/such/file", "", "", code, "aws configure"},
		{"region = r", "", "", "no credentials found", "?anonymous=true"},
	} {
		t.Run(c.config+c.variable, func(t *testing.T) {
			home(t, "[profile x]\n"+c.config+"\n", "")
			t.Setenv("HOME", t.TempDir()) // has no tokens of SSO
			t.Setenv("AWS_PROFILE", "x")
			if name, value, ok := strings.Cut(c.variable, "="); ok {
				t.Setenv(name, value)
			}
			_, err := open(t, &Store{Options: quick}, "s3://bkt/k?"+c.query)
			kind := map[bool]fault.Kind{true: fault.Usage, false: fault.Permission}[c.says == role]
			refuses(t, c.query, err, kind, c.says, c.hint)
		})
	}
}

// TestKeysAreFetchedAnew fetches keys before the old ones expire. The old ones stay in use while no
// new ones can be fetched.
func TestKeysAreFetchedAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no cat")
	}
	path := filepath.Join(t.TempDir(), "keys")
	home(t, "[default]\ncredential_process = cat "+path+"\n", "")
	write := func(id string, left time.Duration) {
		end := time.Now().Add(left).Format(time.RFC3339)
		text := fmt.Sprintf(`{"AccessKeyId":%q,"SecretAccessKey":"s","Expiration":%q}`, id, end)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	keys := credentials.New(readSettings(nil).provider())
	get := func() string {
		v, err := keys.GetWithContext(&credentials.CredContext{Context: t.Context()})
		if err != nil {
			return err.Error()
		}
		return v.AccessKeyID
	}
	write("first", time.Minute)
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "first"},
		{func() { write("second", time.Minute) }, "second"},
		{func() { _ = os.Remove(path) }, "second"},
		{func() { write("third", time.Hour) }, "third"},
		{func() { write("fourth", time.Hour) }, "third"},
	} {
		if step.do(); get() != step.want {
			t.Errorf("step %d: found %s, expected %s", i+1, get(), step.want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := (&Store{Options: quick}).Open(ctx, "s3://bkt/x"); err == nil || err.Error() != "interrupted" {
		t.Errorf("ended: found %v, expected the cause", err)
	}
}

// A transportFunc is an http.RoundTripper.
type transportFunc func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestHostOfBucket addresses a bucket of S3 by a host name where possible, others by a path.
func TestHostOfBucket(t *testing.T) {
	home(t, "", "")
	for _, c := range []struct{ bucket, query, host, path string }{
		{"bkt", "", "bkt.s3.amazonaws.com", "/"}, // asks for the region
		{"bkt", "region=eu-central-1", "bkt.s3.eu-central-1.amazonaws.com", "/x"},
		{"a.bkt", "region=us-east-1", "s3.us-east-1.amazonaws.com", "/a.bkt/x"},
		{"bkt", "region=us-east-1&use_path_style=true", "s3.us-east-1.amazonaws.com", "/bkt/x"},
		{"bkt", "endpoint=http://minio:9000", "minio:9000", "/bkt/x"}, // as botocore does
		{"bkt", "endpoint=https://storage.example.org&use_path_style=false", "bkt.storage.example.org", "/x"},
	} {
		query, _ := url.ParseQuery("anonymous=true&" + c.query)
		asked := ""
		transport := transportFunc(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Host + r.URL.Path
			return nil, errors.New("no network")
		})
		s := must.Get(connect(c.bucket, query, Options{Attempts: 1}, transport))(t)
		if _, _ = s.head(t.Context(), "x"); asked != c.host+c.path {
			t.Errorf("%s?%s: found %s, expected %s%s", c.bucket, c.query, asked, c.host, c.path)
		}
	}
}
