package object

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// Answers of AWS's services: a key as JSON, a key for a web identity, and an error.
const (
	keyJSON = `{"Code":"Success","Version":1,"AccessKeyId":"k","SecretAccessKey":"s","Token":"","Expiration":%q}`
	stsXML  = `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials>` +
		`<AccessKeyId>k</AccessKeyId><SecretAccessKey>s</SecretAccessKey>` +
		`<Expiration>%[2]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`
	refusal = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>` +
		`<Code>AccessDenied</Code><Message>not for ` + secret + `</Message></Error></ErrorResponse>`
)

// issuer returns a key as AWS's services do for web identities, containers and machines.
func issuer(w http.ResponseWriter, r *http.Request) {
	const roles = "/latest/meta-data/iam/security-credentials/"
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	switch action := r.FormValue("Action"); {
	case action == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") == "the token":
		fmt.Fprintf(w, stsXML, action, end)
	case action != "":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, refusal)
	case r.URL.Path == "/latest/api/token":
		fmt.Fprint(w, "session")
	case r.URL.Path == roles:
		fmt.Fprint(w, "role")
	case r.URL.Path == roles+"role" && r.Header.Get("X-aws-ec2-metadata-token") == "session",
		r.URL.Path == "/container" && r.Header.Get("Authorization") == "the token":
		fmt.Fprintf(w, keyJSON, end)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestSourcesOfKeys has keys from the sources of AWS's own programs; TestKeysAreFetchedAnew has
// those of a process.
func TestSourcesOfKeys(t *testing.T) {
	front := webServer(t, http.HandlerFunc(issuer))
	dir := t.TempDir()
	plant := func(name, content string) string {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		return filepath.Join(dir, name)
	}
	token, wrong := plant("token", "the token"), plant("wrong", "another token")
	const role = "AWS_ROLE_ARN=arn:aws:iam::1:role/x\n"
	container := "AWS_CONTAINER_CREDENTIALS_FULL_URI=" + front + "/container\n"
	machine := "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + front
	for name, c := range map[string]struct{ query, variables, says string }{
		"a profile": {"", "AWS_PROFILE=keys", ""},
		"a profile in the URL, before other keys": {"profile=keys", "AWS_ACCESS_KEY_ID=x\nAWS_SECRET_ACCESS_KEY=y", ""},
		"a web identity":                    {"", role + "AWS_WEB_IDENTITY_TOKEN_FILE=" + token, ""},
		"a web identity that may not":       {"", role + "AWS_WEB_IDENTITY_TOKEN_FILE=" + wrong, "AccessDenied"},
		"a container":                       {"", container + "AWS_CONTAINER_AUTHORIZATION_TOKEN=the token", ""},
		"a container with a file":           {"", container + "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + token, ""},
		"a machine":                         {"", "AWS_EC2_METADATA_DISABLED=\n" + machine, ""},
		"a machine that is not to be asked": {"", machine, "no credentials found"},
	} {
		t.Run(name, func(t *testing.T) {
			home(t, "", "[keys]\naws_access_key_id = k\naws_secret_access_key = s\n")
			for v := range strings.SplitSeq(c.variables+"\nAWS_ENDPOINT_URL_STS="+front, "\n") {
				if name, value, ok := strings.Cut(v, "="); ok {
					t.Setenv(name, value)
				}
			}
			query, _ := url.ParseQuery(c.query)
			ctx := &credentials.CredContext{Context: t.Context()}
			v, err := credentials.New(readSettings(query).provider()).GetWithContext(ctx)
			if c.says != "" {
				refuses(t, name, err, fault.Permission, c.says, "AWS_PROFILE")
			} else if err != nil || v.AccessKeyID != "k" || v.SecretAccessKey != "s" {
				t.Errorf("found the key %s and %v", v.AccessKeyID, err)
			}
		})
	}
}
