//go:build !lean

package object

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
)

// Settings come from the parameters of the URL, environment variables and the shared files of AWS,
// in this order: https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
type settings struct {
	query   url.Values
	name    string            // of the profile
	profile map[string]string // nil if there is no such profile
	err     error             // about the first invalid setting
}

// check records an error about a setting, unless ok is true or there is an earlier error.
func (e *settings) check(ok bool, format string, args ...any) {
	if !ok && e.err == nil {
		e.err = fault.New(fault.Usage, format, args...)
	}
}

// readSettings reads the shared files. A profile that is chosen by name must exist.
func readSettings(query url.Values) *settings {
	e := &settings{query: query}
	chosen, origin := e.find("profile", "AWS_PROFILE", "AWS_DEFAULT_PROFILE")
	e.name = cmp.Or(chosen, "default")
	home, _ := os.UserHomeDir() // without one the files are not found
	for _, file := range []struct{ name, variable string }{
		{"config", "AWS_CONFIG_FILE"}, {"credentials", "AWS_SHARED_CREDENTIALS_FILE"},
	} {
		text, err := os.ReadFile(cmp.Or(os.Getenv(file.variable), filepath.Join(home, ".aws", file.name)))
		e.check(err == nil || errors.Is(err, fs.ErrNotExist), "cannot read AWS's shared file %s", file.name)
		e.read(text, file.name == "config")
	}
	e.check(chosen == "" || e.profile != nil,
		"%s is %s, but AWS's shared config and credentials files have no such profile", origin, scrub(chosen))
	return e
}

// read reads the settings of the profile from a file. In the config file, sections of profiles are
// named "profile NAME", except for the default profile. Later settings take precedence.
func (e *settings) read(text []byte, config bool) {
	inside := false
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if section, ok := strings.CutPrefix(line, "["); ok {
			section, _, _ = strings.Cut(section, "]")
			words := strings.Fields(section)
			named := len(words) == 2 && words[0] == "profile"
			last := len(words) - 1
			inside = last >= 0 && words[last] == e.name && named == (config && words[0] != "default")
			if inside && e.profile == nil {
				e.profile = map[string]string{}
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || !inside || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.ContainsAny(key, "#;") {
			continue // comments and nested settings
		}
		value, _, _ = strings.Cut(value, " #")
		value, _, _ = strings.Cut(value, " ;")
		e.profile[key] = strings.TrimSpace(value)
	}
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

// region returns the region. Servers without regions accept the default, and AWS names the right
// one.
func (e *settings) region() string {
	region, _ := e.find("region", "AWS_REGION", "AWS_DEFAULT_REGION")
	return cmp.Or(region, "us-east-1")
}

// endpoint returns the URL of the server.
func (e *settings) endpoint() *url.URL {
	const example = "a URL such as https://storage.example.org"
	text, origin := e.find("endpoint_url", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	if value := e.query.Get("endpoint"); value != "" {
		text, origin = value, "the parameter endpoint"
	}
	wrong := origin + " is not " + example
	if !e.query.Has("endpoint") && !isSuspicious(text) { // it has no password
		wrong = origin + " is " + scrub(text) + ", expected " + example
	}
	u, err := url.Parse(cmp.Or(text, "https://s3.amazonaws.com"))
	if err != nil {
		u = new(url.URL)
	}
	e.check(u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https"), "%s", wrong)
	e.check(strings.Trim(u.Path, "/") == "" && u.RawQuery == "", "%s has a path, expected %s", origin, example)
	if bundle, origin := e.find("ca_bundle", "AWS_CA_BUNDLE"); bundle != "" && u.Scheme == "https" && e.err == nil {
		e.err = fault.New(fault.Usage, "%s is set, but is not supported", origin).
			WithHint("add its certificates to those of this machine; on Linux: unset AWS_CA_BUNDLE; export SSL_CERT_FILE=FILE")
	}
	return u
}

// isTrue returns the value of a parameter that is true or false.
func (e *settings) isTrue(name string) bool {
	value, err := strconv.ParseBool(e.query.Get(name))
	e.check(err == nil || !e.query.Has(name), "the parameter %s of the URL is neither true nor false", name)
	return value
}

// whenSupported reports whether a setting turns checksums on.
func (e *settings) whenSupported(name string) bool {
	mode, origin := e.find(name, "AWS_"+strings.ToUpper(name))
	mode = strings.ToLower(cmp.Or(mode, "when_supported"))
	e.check(mode == "when_supported" || mode == "when_required", "%s is neither when_supported nor when_required", origin)
	return mode == "when_supported"
}
