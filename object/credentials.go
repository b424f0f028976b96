//go:build !lean

package object

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
)

// An environment is what the parameters of a URL, variables and the shared files of AWS say of how S3
// is reached, in this order:
// https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
type environment struct {
	query    url.Values
	profiles map[string]map[string]string // settings by the name of the profile
	profile  string
}

// readEnvironment reads the shared files. A profile that is named must be there.
func readEnvironment(query url.Values) (*environment, error) {
	e := &environment{query: query, profiles: map[string]map[string]string{}}
	e.profile = cmp.Or(query.Get("profile"), os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"))
	home, _ := os.UserHomeDir() // none: the files are not there
	for variable, name := range map[string]string{"AWS_CONFIG_FILE": "config", "AWS_SHARED_CREDENTIALS_FILE": "credentials"} {
		text, err := os.ReadFile(cmp.Or(os.Getenv(variable), filepath.Join(home, ".aws", name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, failed(fault.Usage, "the file of AWS's %s cannot be read: %s", name, reason(err))
		}
		e.read(text, name == "config")
	}
	if e.profiles[e.profile] == nil && e.profile != "" {
		return nil, failed(fault.Usage, "there is no profile %s in the shared files of AWS", scrub(e.profile))
	}
	e.profile = cmp.Or(e.profile, "default")
	return e, nil
}

// read takes the settings of a file. In that of the configuration, profiles but the default one are
// called "profile NAME"; what the file of credentials says comes before it.
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
			continue // comments, and settings below others
		}
		value, _, _ = strings.Cut(value, " #")
		value, _, _ = strings.Cut(value, " ;")
		if _, taken := settings[key]; !config || !taken {
			settings[key] = strings.TrimSpace(value)
		}
	}
}

// get is a setting: a parameter, the first of the variables that is set, or what the profile says.
func (e *environment) get(name string, variables ...string) string {
	if value := e.query.Get(name); value != "" {
		return value
	}
	for _, v := range variables {
		if value := os.Getenv(v); value != "" {
			return value
		}
	}
	return e.profiles[e.profile][name]
}

// defaultRegion is for servers that have none.
const defaultRegion = "us-east-1"

func (e *environment) region() string {
	return cmp.Or(e.get("region", "AWS_REGION", "AWS_DEFAULT_REGION"), defaultRegion)
}

// endpoint is where the server is.
func (e *environment) endpoint() (*url.URL, error) {
	text := cmp.Or(e.query.Get("endpoint"), e.get("endpoint_url", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, failed(fault.Usage, "the endpoint is no URL such as https://storage.example.org")
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, failed(fault.Usage, "the endpoint has a path, expected a URL such as https://storage.example.org")
	}
	return u, nil
}

// sts is where roles are assumed.
func (e *environment) sts() string {
	host := "https://sts." + e.region() + ".amazonaws.com"
	if strings.HasPrefix(e.region(), "cn-") {
		host += ".cn"
	}
	return cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), os.Getenv("AWS_ENDPOINT_URL"), host)
}

// A keyProvider finds keys where AWS's own programs find them.
type keyProvider struct {
	*environment
	client *http.Client
	found  credentials.Value
}

// refreshBefore is how long before their end keys are fetched anew.
const refreshBefore = 5 * time.Minute

// IsExpired reports whether keys have to be fetched.
func (k *keyProvider) IsExpired() bool {
	return !k.found.Expiration.IsZero() && time.Until(k.found.Expiration) < refreshBefore
}

// Retrieve finds the keys.
func (k *keyProvider) Retrieve() (credentials.Value, error) { return k.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext finds the keys. Its error is a *fault.Error.
func (k *keyProvider) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	inner := &credentials.CredContext{Client: k.client} // not minio-go's own: these requests are not for the bucket
	if cc != nil {
		inner.Context = cc.Context
	}
	value, err := k.retrieve(inner)
	switch {
	case err == nil && value.AccessKeyID != "":
		k.found = value
	case k.found.Expiration.After(time.Now()): // they are good for a while
	case err != nil:
		return value, failed(fault.Permission, "no credentials found: %s", reason(err))
	default:
		return value, failed(fault.Permission, "no credentials found")
	}
	return k.found, nil
}

func (k *keyProvider) retrieve(cc *credentials.CredContext) (credentials.Value, error) {
	if !k.query.Has("profile") {
		if keys, err := new(credentials.EnvAWS).RetrieveWithCredContext(cc); err == nil && keys.AccessKeyID != "" && keys.SecretAccessKey != "" {
			return keys, nil
		}
		if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
			return (&credentials.IAM{Client: k.client, Endpoint: k.sts()}).RetrieveWithCredContext(cc)
		}
	}
	return k.ofProfile(cc, k.profile, nil)
}

// ofProfile finds the keys of a profile, which may be a role that those of another are good for.
func (k *keyProvider) ofProfile(cc *credentials.CredContext, name string, above []string) (credentials.Value, error) {
	p := k.profiles[name]
	static := credentials.Value{AccessKeyID: p["aws_access_key_id"], SecretAccessKey: p["aws_secret_access_key"], SessionToken: p["aws_session_token"],
		SignerType: credentials.SignatureV4}
	hasStatic := static.AccessKeyID != "" && static.SecretAccessKey != ""
	source := p["source_profile"]
	again := slices.Contains(above, name) // a profile may name itself, for its keys
	switch {
	case again && !hasStatic:
		return static, errors.New("profile " + name + " is its own source_profile")
	case again:
		return static, nil
	case p["role_arn"] != "" && source != "":
		keys, err := k.ofProfile(cc, source, append(above, name))
		return k.assume(cc, p, keys, err)
	case p["role_arn"] != "" && p["credential_source"] != "":
		keys, err := k.ofSource(cc, p["credential_source"])
		return k.assume(cc, p, keys, err)
	case p["role_arn"] != "" && p["web_identity_token_file"] != "":
		return (&credentials.STSWebIdentity{Client: k.client, STSEndpoint: k.sts(), RoleARN: p["role_arn"], GetWebIDTokenExpiry: func() (*credentials.WebIdentityToken, error) {
			token, err := os.ReadFile(p["web_identity_token_file"])
			return &credentials.WebIdentityToken{Token: string(token)}, err
		}}).RetrieveWithCredContext(cc)
	case hasStatic:
		return static, nil
	case p["sso_account_id"] != "":
		return (&credentials.FileAWSCredentials{Profile: name}).RetrieveWithCredContext(cc)
	case p["credential_process"] != "":
		return ofProcess(cc, p["credential_process"])
	case len(above) > 0:
		return static, errors.New("profile " + name + " has no keys")
	}
	return k.ofSource(cc, "")
}

// assume asks for the keys of a role, with others.
func (k *keyProvider) assume(cc *credentials.CredContext, p map[string]string, keys credentials.Value, err error) (credentials.Value, error) {
	if err != nil {
		return keys, err
	}
	if p["mfa_serial"] != "" {
		return keys, errors.New("the role asks for a code of a device; assume it by aws configure export-credentials")
	}
	seconds, _ := strconv.Atoi(p["duration_seconds"]) // 0: as long as the server likes
	return (&credentials.STSAssumeRole{Client: k.client, STSEndpoint: k.sts(), Options: credentials.STSAssumeRoleOptions{
		AccessKey: keys.AccessKeyID, SecretKey: keys.SecretAccessKey, SessionToken: keys.SessionToken, Location: k.region(), DurationSeconds: seconds,
		RoleARN: p["role_arn"], RoleSessionName: cmp.Or(p["role_session_name"], "idxport"), ExternalID: p["external_id"],
	}}).RetrieveWithCredContext(cc)
}

// ofSource finds the keys of the environment, the container or the machine, as credential_source
// calls them; without a name those of the container if there is one, or else of the machine. These
// servers are near, and behind no proxy.
func (k *keyProvider) ofSource(cc *credentials.CredContext, name string) (credentials.Value, error) {
	if name == "Environment" {
		return new(credentials.EnvAWS).RetrieveWithCredContext(cc)
	}
	container := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	iam := &credentials.IAM{Client: &http.Client{Transport: new(http.Transport), Timeout: 5 * time.Second}}
	if !container {
		if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
			return credentials.Value{}, nil
		}
		iam.Endpoint = strings.TrimSuffix(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "/")
	}
	keys, err := iam.RetrieveWithCredContext(cc)
	if name == "" && !container { // nobody has said that this is a machine of AWS
		err = nil
	}
	return keys, err
}

// ofProcess runs a program that prints keys.
func ofProcess(cc *credentials.CredContext, command string) (v credentials.Value, err error) {
	ctx := cc.Context
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C"}
	}
	text, err := exec.CommandContext(ctx, shell[0], shell[1], command).Output()
	if err != nil {
		return v, errors.New("credential_process failed: " + err.Error())
	}
	var keys struct {
		AccessKeyID, SecretAccessKey, SessionToken string
		Expiration                                 time.Time
	}
	if json.Unmarshal(text, &keys) != nil || keys.SecretAccessKey == "" {
		return v, errors.New("credential_process printed no keys")
	}
	return credentials.Value{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: keys.SessionToken,
		Expiration: keys.Expiration, SignerType: credentials.SignatureV4}, nil
}
