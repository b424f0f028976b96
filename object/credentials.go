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
		return value, nil
	case inner.Context != nil && inner.Context.Err() != nil:
		return value, ended(inner.Context)
	case k.found.Expiration.After(time.Now()): // they are good for a while
		return k.found, nil
	}
	return value, notFound(err)
}

// notFound is the error of a search for keys: of what servers say, the code alone.
func notFound(err error) error {
	var known *fault.Error
	var refused credentials.ErrorResponse
	var unanswered *url.Error
	switch {
	case err == nil:
		return noKeys("")
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused) && plainCode().MatchString(refused.STSError.Code):
		return noKeys(": the role is refused: " + refused.STSError.Code)
	case errors.As(err, &unanswered):
		return noKeys(": no answer: " + reason(err)).Because(errAgain)
	}
	return noKeys(": " + reason(err))
}

func noKeys(text string) *fault.Error {
	return failed(fault.Permission, "%s", "no credentials found"+text)
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
	circle := slices.Contains(above, name) // a profile may name itself, for its keys
	switch {
	case circle && !hasStatic:
		return static, noKeys(": profile " + scrub(name) + " is its own source_profile")
	case circle:
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
		keys, err := (&credentials.FileAWSCredentials{Profile: name}).RetrieveWithCredContext(cc)
		if err != nil {
			err = noKeys(": no session of IAM Identity Center").WithHint("begin one: aws sso login --profile %s", shell.Quote(name))
		}
		return keys, err
	case p["credential_process"] != "":
		return ofProcess(cc, p["credential_process"])
	case len(above) > 0:
		return static, noKeys(": profile " + scrub(name) + " has no keys")
	}
	return k.ofSource(cc, "")
}

// assume asks for the keys of a role, with others.
func (k *keyProvider) assume(cc *credentials.CredContext, p map[string]string, keys credentials.Value, err error) (credentials.Value, error) {
	if err != nil {
		return keys, err
	}
	if p["mfa_serial"] != "" {
		return keys, noKeys(": the role asks for the code of a device").WithHint("eval \"$(aws configure export-credentials --format env)\"")
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
	run := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		run = []string{"cmd.exe", "/C"}
	}
	text, err := exec.CommandContext(ctx, run[0], run[1], command).Output()
	if err != nil {
		return v, noKeys(": credential_process failed: " + reason(err))
	}
	var keys struct {
		AccessKeyID, SecretAccessKey, SessionToken string
		Expiration                                 time.Time
	}
	if json.Unmarshal(text, &keys) != nil || keys.SecretAccessKey == "" {
		return v, noKeys(": credential_process printed no keys")
	}
	return credentials.Value{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: keys.SessionToken,
		Expiration: keys.Expiration, SignerType: credentials.SignatureV4}, nil
}
