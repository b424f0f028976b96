//go:build !lean

package object

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// A keyProvider finds access keys where AWS's own programs find them.
type keyProvider struct {
	*environment
	client *http.Client
	found  credentials.Value
}

// refreshBefore is how long before their expiration new keys are fetched.
const refreshBefore = 5 * time.Minute

// IsExpired reports whether new keys must be fetched.
func (k *keyProvider) IsExpired() bool {
	return !k.found.Expiration.IsZero() && time.Until(k.found.Expiration) < refreshBefore
}

// Retrieve finds the keys.
func (k *keyProvider) Retrieve() (credentials.Value, error) { return k.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext finds the keys. Its error is a *fault.Error.
func (k *keyProvider) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	inner := &credentials.CredContext{Client: k.client} // cc has that of the bucket's requests
	if cc != nil {
		inner.Context = cc.Context
	}
	value, err := k.retrieve(inner)
	switch {
	case err == nil && value.AccessKeyID != "":
		k.found = value
		return value, nil
	case inner.Context != nil && inner.Context.Err() != nil:
		return value, canceled(inner.Context)
	case k.found.Expiration.After(time.Now()): // still valid
		return k.found, nil
	}
	return value, k.searchError(err)
}

// missing says which of the two variables with the keys is not set, if the other is.
func (k *keyProvider) missing() string {
	const id, secret = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
	switch hasID, hasSecret := os.Getenv(id) != "", os.Getenv(secret) != ""; {
	case hasID == hasSecret || k.query.Has("profile"):
		return ""
	case hasID:
		return ": " + id + " is set, but not " + secret
	default:
		return ": " + secret + " is set, but not " + id
	}
}

// searchError returns the error of a failed search for keys; err is nil if there are none. Of a
// server's answer, the message contains only the code.
func (k *keyProvider) searchError(err error) error {
	var known *fault.Error
	var refused credentials.ErrorResponse
	var unanswered *url.Error
	switch {
	case err == nil:
		return noCredentials(k.missing())
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused) && plainCode().MatchString(refused.STSError.Code):
		return noCredentials(": assuming the role failed: " + refused.STSError.Code)
	case errors.As(err, &unanswered):
		return noCredentials(": no answer: " + reason(err)).Because(errTemporary)
	}
	return noCredentials(": " + reason(err))
}

func noCredentials(text string) *fault.Error {
	return fault.New(fault.Permission, "%s", "no credentials found"+text).
		WithHint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a public bucket, add ?anonymous=true to the URL")
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
	return k.fromProfile(cc, k.profile, nil)
}

// fromProfile returns the keys of a profile. The profile may name a role, and another profile whose
// keys may assume it. visited are the profiles that led to this one.
func (k *keyProvider) fromProfile(cc *credentials.CredContext, name string, visited []string) (credentials.Value, error) {
	p := k.profiles[name]
	static := credentials.Value{AccessKeyID: p["aws_access_key_id"], SecretAccessKey: p["aws_secret_access_key"], SessionToken: p["aws_session_token"],
		SignerType: credentials.SignatureV4}
	hasStatic := static.AccessKeyID != "" && static.SecretAccessKey != ""
	source := p["source_profile"]
	circle := slices.Contains(visited, name) // a profile with keys may be its own source_profile
	switch {
	case circle && !hasStatic:
		return static, noCredentials(": profile " + scrub(name) + " is its own source_profile")
	case circle:
		return static, nil
	case p["role_arn"] != "" && source != "":
		keys, err := k.fromProfile(cc, source, append(visited, name))
		return k.assume(cc, p, keys, err)
	case p["role_arn"] != "" && p["credential_source"] != "":
		keys, err := k.fromSource(cc, p["credential_source"])
		return k.assume(cc, p, keys, err)
	case p["role_arn"] != "" && p["web_identity_token_file"] != "":
		return (&credentials.STSWebIdentity{Client: k.client, STSEndpoint: k.sts(), RoleARN: p["role_arn"], GetWebIDTokenExpiry: func() (*credentials.WebIdentityToken, error) {
			token, err := os.ReadFile(p["web_identity_token_file"])
			return &credentials.WebIdentityToken{Token: string(token)}, err
		}}).RetrieveWithCredContext(cc)
	case hasStatic:
		return static, nil
	case p["sso_account_id"] != "":
		keys, err := (&credentials.FileAWSCredentials{Profile: name}).RetrieveWithCredContext(cc)
		if err != nil {
			err = noCredentials(": no session of IAM Identity Center").WithHint("log in: aws sso login --profile %s", shell.Quote(name))
		}
		return keys, err
	case p["credential_process"] != "":
		return fromProcess(cc, p["credential_process"])
	case len(visited) > 0:
		return static, noCredentials(": profile " + scrub(name) + " has no keys")
	}
	return k.fromSource(cc, "")
}

// assume requests the keys of a role, using other keys.
func (k *keyProvider) assume(cc *credentials.CredContext, p map[string]string, keys credentials.Value, err error) (credentials.Value, error) {
	if err != nil {
		return keys, err
	}
	if p["mfa_serial"] != "" {
		advice := "log in first"
		if k.query.Has("profile") { // keys in the environment would not be used
			advice = "leave out ?profile= and log in first"
		}
		return keys, noCredentials(": the role requires the code of an MFA device").
			WithHint("%s: eval \"$(aws configure export-credentials --profile %s --format env)\"", advice, shell.Quote(k.profile))
	}
	seconds, _ := strconv.Atoi(p["duration_seconds"]) // 0 is the default of the server
	return (&credentials.STSAssumeRole{Client: k.client, STSEndpoint: k.sts(), Options: credentials.STSAssumeRoleOptions{
		AccessKey: keys.AccessKeyID, SecretKey: keys.SecretAccessKey, SessionToken: keys.SessionToken, Location: k.region(), DurationSeconds: seconds,
		RoleARN: p["role_arn"], RoleSessionName: cmp.Or(p["role_session_name"], "idxport"), ExternalID: p["external_id"],
	}}).RetrieveWithCredContext(cc)
}

// fromSource returns the keys of a credential_source: Environment, EcsContainer or
// Ec2InstanceMetadata. If name is empty, these are the keys of the container if there is one, else
// of the machine. The servers that provide them are local, so requests to them use no proxy.
func (k *keyProvider) fromSource(cc *credentials.CredContext, name string) (credentials.Value, error) {
	if name == "Environment" {
		return new(credentials.EnvAWS).RetrieveWithCredContext(cc)
	}
	if name != "" && name != "EcsContainer" && name != "Ec2InstanceMetadata" {
		return credentials.Value{}, noCredentials(": credential_source is " + strconv.Quote(name) + ", expected Environment, EcsContainer or Ec2InstanceMetadata")
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
	if name == "" && !container { // this need not be a machine of AWS
		err = nil
	}
	return keys, err
}

// fromProcess runs a command that prints keys as JSON.
func fromProcess(cc *credentials.CredContext, command string) (v credentials.Value, err error) {
	ctx := cc.Context
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	run := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		run = []string{"cmd.exe", "/C"}
	}
	text, err := exec.CommandContext(ctx, run[0], run[1], command).Output()
	if err != nil {
		return v, noCredentials(": credential_process failed: " + reason(err))
	}
	var keys struct {
		AccessKeyID, SecretAccessKey, SessionToken string
		Expiration                                 time.Time
	}
	if json.Unmarshal(text, &keys) != nil || keys.SecretAccessKey == "" {
		return v, noCredentials(": credential_process printed no keys")
	}
	return credentials.Value{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: keys.SessionToken,
		Expiration: keys.Expiration, SignerType: credentials.SignatureV4}, nil
}
