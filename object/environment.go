//go:build !lean

package object

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/idxport/idxport/fault"
)

// An environment has the settings for S3, which come from the parameters of the URL, environment
// variables and the shared files of AWS, in this order:
// https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
type environment struct {
	query    url.Values
	profiles map[string]map[string]string // settings by the name of the profile
	profile  string
	err      error // about the first invalid setting
}

// check records an error about a setting, unless ok is true or there is an earlier error.
func (e *environment) check(ok bool, format string, args ...any) {
	if !ok && e.err == nil {
		e.err = fault.New(fault.Usage, format, args...)
	}
}

// readEnvironment reads the shared files. A profile that is chosen by name must exist.
func readEnvironment(query url.Values) *environment {
	e := &environment{query: query, profiles: map[string]map[string]string{}}
	var origin string
	e.profile, origin = e.find("profile", "AWS_PROFILE", "AWS_DEFAULT_PROFILE")
	home, _ := os.UserHomeDir() // without one the files are not found
	for variable, name := range map[string]string{"AWS_CONFIG_FILE": "config", "AWS_SHARED_CREDENTIALS_FILE": "credentials"} {
		text, err := os.ReadFile(cmp.Or(os.Getenv(variable), filepath.Join(home, ".aws", name)))
		e.check(err == nil || errors.Is(err, fs.ErrNotExist), "cannot read AWS's shared file %s", name)
		e.read(text, name == "config")
	}
	e.check(e.profile == "" || e.profiles[e.profile] != nil, "%s is %s, but AWS's shared config and credentials files have no such profile", origin, scrub(e.profile))
	e.profile = cmp.Or(e.profile, "default")
	return e
}

// read reads the settings of a file. In the config file, sections of profiles are named "profile
// NAME", except for the default profile. Settings of the credentials file take precedence.
func (e *environment) read(text []byte, config bool) {
	var settings map[string]string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if section, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ := strings.Cut(section, "]")
			words := strings.Fields(name)
			settings = nil
			if isProfile := len(words) == 2 && words[0] == "profile"; len(words) > 0 && isProfile == (config && words[0] != "default") {
				name = words[len(words)-1]
				if settings = e.profiles[name]; settings == nil {
					settings = map[string]string{}
					e.profiles[name] = settings
				}
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || settings == nil || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.ContainsAny(key, "#;") {
			continue // comments and nested settings
		}
		value, _, _ = strings.Cut(value, " #")
		value, _, _ = strings.Cut(value, " ;")
		if _, taken := settings[key]; !config || !taken {
			settings[key] = strings.TrimSpace(value)
		}
	}
}

// get returns a setting: the parameter, the first of the variables that is set, or that of the
// profile.
func (e *environment) get(name string, variables ...string) string {
	value, _ := e.find(name, variables...)
	return value
}

// find is get, and returns what has the setting, for messages.
func (e *environment) find(name string, variables ...string) (value, origin string) {
	if value := e.query.Get(name); value != "" {
		return value, "the parameter " + name + " of the URL"
	}
	for _, v := range variables {
		if value := os.Getenv(v); value != "" {
			return value, v
		}
	}
	return e.profiles[e.profile][name], name + " of the profile " + scrub(e.profile)
}

// defaultRegion is used if no region is set. Servers without regions accept it, and AWS names the
// right one.
const defaultRegion = "us-east-1"

func (e *environment) region() string {
	return cmp.Or(e.get("region", "AWS_REGION", "AWS_DEFAULT_REGION"), defaultRegion)
}

// endpoint returns the URL of the server.
func (e *environment) endpoint() *url.URL {
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
	return u
}

// isTrue returns the value of a parameter that is true or false.
func (e *environment) isTrue(name string) bool {
	value, err := strconv.ParseBool(e.query.Get(name))
	e.check(err == nil || !e.query.Has(name), "the parameter %s of the URL is neither true nor false", name)
	return value
}

// whenSupported reports whether a setting turns checksums on.
func (e *environment) whenSupported(name string) bool {
	mode, origin := e.find(name, "AWS_"+strings.ToUpper(name))
	mode = strings.ToLower(cmp.Or(mode, "when_supported"))
	e.check(mode == "when_supported" || mode == "when_required", "%s is neither when_supported nor when_required", origin)
	return mode == "when_supported"
}

// newTransport returns a transport that uses the proxies of the environment.
func newTransport() *http.Transport {
	// With compression, objects with Content-Encoding: gzip would be decompressed.
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 1 << 20, DisableCompression: true}
}

// transport returns a transport that trusts, besides the certificates of this machine, those of
// AWS_CA_BUNDLE.
func (e *environment) transport() *http.Transport {
	t := newTransport()
	if path := os.Getenv("AWS_CA_BUNDLE"); path != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		text, err := os.ReadFile(path)
		e.check(err == nil && pool.AppendCertsFromPEM(text), "found no certificates in the file that AWS_CA_BUNDLE names")
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return t
}

// sts returns the URL of AWS's Security Token Service, which issues the keys of roles.
func (e *environment) sts() string {
	host := "https://sts." + e.region() + ".amazonaws.com"
	if strings.HasPrefix(e.region(), "cn-") {
		host += ".cn"
	}
	return cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), os.Getenv("AWS_ENDPOINT_URL"), host)
}
