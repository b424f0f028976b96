package object

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// amazon is the host of S3 itself.
const amazon = "s3.amazonaws.com"

// Settings come from the parameters of the URL, environment variables and the shared files of AWS,
// in this order: https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
type settings struct {
	query   url.Values
	name    string            // of the profile
	profile map[string]string // empty if there is no such profile
	err     error             // about the first invalid setting
}

// check records an error about a setting, unless ok is true or there is an earlier error.
func (e *settings) check(ok bool, format string, args ...any) {
	if !ok {
		e.err = cmp.Or(e.err, error(fault.New(fault.Usage, format, args...)))
	}
}

// readSettings reads the profile from the shared files, of which the second takes precedence. A
// profile that is chosen by name must exist. In the config file, sections of profiles are named
// "profile NAME", except for the default profile.
func readSettings(query url.Values) *settings {
	e := &settings{query: query, profile: map[string]string{}}
	chosen, origin := e.find("profile", "AWS_PROFILE", "AWS_DEFAULT_PROFILE")
	exists := chosen == ""
	e.name = cmp.Or(chosen, "default")
	section := "profile " + e.name
	if e.name == "default" {
		section = e.name
	}
	home, _ := os.UserHomeDir() // without one the files are not found
	options := ini.LoadOptions{Loose: true, AllowNestedValues: true, SkipUnrecognizableLines: true,
		SpaceBeforeInlineComment: true, PreserveSurroundedQuote: true, ChildSectionDelimiter: "\n"}
	for _, file := range []struct{ name, variable, section string }{
		{"config", "AWS_CONFIG_FILE", section}, {"credentials", "AWS_SHARED_CREDENTIALS_FILE", e.name},
	} {
		path := cmp.Or(os.Getenv(file.variable), filepath.Join(home, ".aws", file.name))
		shared, err := ini.LoadSources(options, path)
		e.check(err == nil, "cannot read AWS's shared file %s", file.name)
		if err == nil && shared.HasSection(file.section) {
			exists = true
			maps.Copy(e.profile, shared.Section(file.section).KeysHash())
		}
	}
	e.check(exists,
		"%s is %s, but AWS's shared config and credentials files have no such profile", origin, scrub(chosen))
	return e
}

// find returns a setting and where it was found, for messages: the parameter, the first of the
// variables that is set, or the setting of the profile.
func (e *settings) find(name string, variables ...string) (value, origin string) {
	if value := e.query.Get(name); value != "" {
		return value, "the parameter " + name + " of the URL"
	}
	for _, v := range variables {
		if value := os.Getenv(v); value != "" {
			return value, v
		}
	}
	return e.profile[name], name + " of the profile " + scrub(e.name)
}

// region returns the region, empty if there is no such setting.
func (e *settings) region() string {
	region, _ := e.find("region", "AWS_REGION", "AWS_DEFAULT_REGION")
	return region
}

func (e *settings) endpoint() *url.URL {
	text, origin := e.find("endpoint_url", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	if value := e.query.Get("endpoint"); value != "" {
		text, origin = value, "the parameter endpoint"
	}
	u, err := url.Parse(cmp.Or(text, "https://"+amazon))
	if err != nil {
		u = new(url.URL)
	}
	known := u.Scheme == "http" || u.Scheme == "https"
	plain := u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == ""
	e.check(known && plain && u.Host != "", "%s is not a URL such as https://storage.example.org", origin)
	return u
}

// isTrue returns the value of a parameter that is true or false.
func (e *settings) isTrue(name string) bool {
	value, err := strconv.ParseBool(e.query.Get(name))
	e.check(err == nil || !e.query.Has(name), "the parameter %s of the URL is neither true nor false", name)
	return value
}

func (e *settings) checksums() bool {
	mode, origin := e.find("request_checksum_calculation", "AWS_REQUEST_CHECKSUM_CALCULATION")
	mode = strings.ToLower(cmp.Or(mode, "when_supported"))
	const on, off = "when_supported", "when_required"
	e.check(mode == on || mode == off, "%s is neither %s nor %s", origin, on, off)
	return mode == on
}

// keys are those of one provider of minio-go. Its chain of providers is not used: it drops their
// errors, and if there are no keys, requests are not signed.
type keys struct {
	credentials.Provider
	client *http.Client
	hint   string // empty: the usual one
	found  credentials.Value
}

// IsExpired reports whether new keys must be fetched: five minutes before the old ones expire.
func (k *keys) IsExpired() bool {
	expires := k.found.Expiration
	return k.found.AccessKeyID == "" || !expires.IsZero() && time.Until(expires) < 5*time.Minute
}

// RetrieveWithCredContext finds the keys. Its error is a *fault.Error. If no new keys can be
// fetched, the old ones stay in use until they expire.
func (k *keys) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	value, err := k.Provider.RetrieveWithCredContext(&credentials.CredContext{Client: k.client, Context: cc.Context})
	var answer credentials.ErrorResponse
	switch {
	case err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "":
		k.found = value
		return value, nil
	case k.found.Expiration.After(time.Now()):
		return k.found, nil
	case err == nil:
		return value, noCredentials("", k.hint)
	case errors.As(err, &answer) && errorCode().MatchString(answer.STSError.Code):
		return value, noCredentials(": "+answer.STSError.Code, k.hint)
	}
	return value, noCredentials(": "+reason(err), k.hint)
}

func noCredentials(text, hint string) error {
	const usual = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; " +
		"for a public bucket, add ?anonymous=true to the URL"
	return fault.New(fault.Permission, "no credentials found%s", text).WithHint("%s", cmp.Or(hint, usual))
}

// provider returns what provides the keys: like AWS's own programs, it looks at the environment,
// then at the profile, then at the container or machine.
func (e *settings) provider() credentials.Provider {
	k := &keys{client: &http.Client{Transport: newTransport(time.Minute, nil), Timeout: time.Minute}}
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	identity := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	if e.query.Has("profile") { // it is preferred to the environment
		id, secret, identity = "", "", ""
	}
	p := e.profile
	const advice = `export keys without ?profile=: eval "$(aws configure export-credentials --profile %s --format env)"`
	if id+secret+identity == "" && p["role_arn"] != "" {
		role := fault.New(fault.Usage, "the profile %s assumes a role (role_arn): not supported", scrub(e.name))
		e.err = cmp.Or(e.err, error(role.WithHint(advice, text.Quote(e.name))))
	}
	sso := p["sso_account_id"]+p["sso_session"] != ""
	switch {
	case id != "" && secret != "":
		k.Provider = &credentials.EnvAWS{}
	case id+secret != "":
		e.err = cmp.Or(e.err, noCredentials(": only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set", ""))
	case identity != "":
		k.Provider = &credentials.IAM{Region: e.region(),
			Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), os.Getenv("AWS_ENDPOINT_URL"))}
	case sso || p["aws_access_key_id"]+p["aws_secret_access_key"]+p["credential_process"] != "":
		k.Provider = &credentials.FileAWSCredentials{Profile: e.name}
		switch {
		case sso:
			k.hint = "log in: aws sso login --profile " + text.Quote(e.name)
		case p["credential_process"] != "": // minio-go divides it at spaces, without a shell
			k.hint = fmt.Sprintf(advice, text.Quote(e.name))
		}
	default: // the servers of containers and machines are local, so that requests to them use no proxy
		k.client = &http.Client{Transport: new(http.Transport), Timeout: 5 * time.Second}
		iam := &credentials.IAM{}
		k.Provider = iam
		if os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") == "" {
			iam.Endpoint = strings.TrimSuffix(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "/")
			if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
				k.Provider = &credentials.Static{}
			}
		}
	}
	return k
}
