//go:build !lean

package object

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// keys are those of one provider of minio-go. Its chain of providers is not used: it drops their
// errors, and if there are no keys, requests are not signed.
type keys struct {
	credentials.Provider
	client   *http.Client
	optional bool   // an error is no news: there may be nothing that provides keys
	hint     string // empty: the usual one
	found    credentials.Value
}

// refreshBefore is how long before their expiration new keys are fetched.
const refreshBefore = 5 * time.Minute

// IsExpired reports whether new keys must be fetched.
func (k *keys) IsExpired() bool {
	return k.found.AccessKeyID == "" || !k.found.Expiration.IsZero() && time.Until(k.found.Expiration) < refreshBefore
}

// RetrieveWithCredContext finds the keys. Its error is a *fault.Error. If no new keys can be
// fetched, the old ones stay in use until they expire.
func (k *keys) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	value, err := k.Provider.RetrieveWithCredContext(&credentials.CredContext{Client: k.client, Context: cc.Context})
	switch {
	case err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "":
		k.found = value
		return value, nil
	case k.found.Expiration.After(time.Now()):
		return k.found, nil
	case err == nil || k.optional:
		return value, noCredentials("", k.hint)
	}
	text := ": " + reason(err)
	var answer credentials.ErrorResponse
	if errors.As(err, &answer) && plainCode().MatchString(answer.STSError.Code) {
		text = ": " + answer.STSError.Code
	}
	return value, noCredentials(text, k.hint)
}

func noCredentials(text, hint string) *fault.Error {
	const usual = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; " +
		"for a public bucket, add ?anonymous=true to the URL"
	return fault.New(fault.Permission, "no credentials found%s", text).WithHint("%s", cmp.Or(hint, usual))
}

// provider returns what provides the keys: like AWS's own programs, it looks at the environment,
// then at the profile, then at the container or machine.
func (e *settings) provider() credentials.Provider {
	k := &keys{client: &http.Client{Transport: newTransport(), Timeout: time.Minute}}
	if !e.query.Has("profile") {
		switch id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"); {
		case id != "" && secret != "":
			k.Provider = &credentials.EnvAWS{}
			return k
		case id != "" || secret != "":
			e.fail(noCredentials(": only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set", ""))
		case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
			k.Provider = &credentials.IAM{Region: e.region(),
				Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), os.Getenv("AWS_ENDPOINT_URL"))}
			return k
		}
	}
	e.checkProfile()
	switch p := e.profile; {
	case p["sso_account_id"] != "" || p["sso_session"] != "":
		k.hint = "log in: aws sso login --profile " + shell.Quote(e.name)
		fallthrough
	case p["aws_access_key_id"] != "", p["aws_secret_access_key"] != "", p["credential_process"] != "":
		k.Provider = &credentials.FileAWSCredentials{Profile: e.name}
	default:
		k.Provider = local(k)
	}
	return k
}

// checkProfile refuses settings of the profile that other programs follow and this one does not.
func (e *settings) checkProfile() {
	advice := "export temporary keys: "
	if e.query.Has("profile") { // keys in the environment would not be used
		advice = "leave out ?profile= and export temporary keys: "
	}
	advice += `eval "$(aws configure export-credentials --profile ` + shell.Quote(e.name) + ` --format env)"`
	refuse := func(text string) {
		e.fail(fault.New(fault.Usage, "the profile %s %s, which is not supported", scrub(e.name), text).
			WithHint("%s", advice))
	}
	// minio-go divides the command at spaces, without a shell, and demands an argument.
	command := e.profile["credential_process"]
	switch {
	case e.profile["role_arn"] != "":
		refuse("assumes a role (role_arn)")
	case strings.ContainsAny(command, "'\"$`|&;<>*~") || command != "" && len(strings.Fields(command)) < 2:
		refuse("has a credential_process with quotes, with words for a shell or without an argument")
	}
}

// fail records an error, unless there is an earlier one.
func (e *settings) fail(err error) { e.err = cmp.Or(e.err, err) }

// local returns the provider of the keys of the container, if there is one, or of the machine. The
// servers of these are local, so that requests to them use no proxy.
func local(k *keys) credentials.Provider {
	k.client = &http.Client{Transport: new(http.Transport), Timeout: 5 * time.Second}
	iam := &credentials.IAM{}
	if os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") == "" {
		if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
			return &credentials.Static{}
		}
		k.optional = true
		iam.Endpoint = strings.TrimSuffix(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "/")
	}
	return iam
}
