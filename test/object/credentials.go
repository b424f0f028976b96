//go:build linux

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"
)

// Answers of AWS's services: a key as JSON, a key for a web identity, and an error.
const (
	keyJSON  = `{"Code":"Success","Version":1,"AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":%q}`
	identity = `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials>` +
		`<AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>%[3]s</SecretAccessKey>` +
		`<Expiration>%[4]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`
	refusal = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>` +
		`<Code>AccessDenied</Code><Message>not for %s</Message></Error></ErrorResponse>`
)

// issuer returns the key of the server as AWS's services do for roles, web identities, containers
// and instances.
func issuer(w http.ResponseWriter, r *http.Request) {
	const roles = "/latest/meta-data/iam/security-credentials/"
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	switch action := r.FormValue("Action"); {
	case action == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") == "the token":
		fmt.Fprintf(w, identity, action, accessKey, secretKey, end)
	case action != "":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, refusal, secretKey)
	case r.URL.Path == "/latest/api/token":
		fmt.Fprint(w, "session")
	case r.URL.Path == roles:
		fmt.Fprint(w, "role")
	case r.URL.Path == roles+"role" && r.Header.Get("X-aws-ec2-metadata-token") == "session",
		r.URL.Path == "/container" && r.Header.Get("Authorization") == "the token":
		fmt.Fprintf(w, keyJSON, accessKey, secretKey, end)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// credentials reads an object with keys from all sources of AWS's own programs.
func (t *tests) credentials() {
	front := httptest.NewServer(http.HandlerFunc(issuer))
	defer front.Close()
	texts := map[string]string{
		"token":       "the token",
		"wrong":       "another token",
		"credentials": "[keys]\naws_access_key_id = " + accessKey + "\naws_secret_access_key = " + secretKey + "\n",
		"process":     fmt.Sprintf(`{"Version":1,"AccessKeyId":%q,"SecretAccessKey":%q}`, accessKey, secretKey),
		"config": "# a comment\n[default]\nregion = us-east-1\ns3 =\n  max_concurrent_requests = 1\n" +
			"[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = keys\n" +
			"[profile process]\ncredential_process = cat " + t.local("process") + "\n",
	}
	for name, text := range texts {
		if err := os.WriteFile(t.local(name), []byte(text), 0o600); err != nil {
			t.fail("%v", err)
		}
	}
	role := "AWS_ROLE_ARN=arn:aws:iam::1:role/x"
	container := "AWS_CONTAINER_CREDENTIALS_FULL_URI=" + front.URL + "/container"
	for _, c := range []struct {
		name    string
		code    int
		environ []string
		more    []string
	}{
		{"keys in a profile", 0, []string{"AWS_PROFILE=keys"}, nil},
		{"a profile in the URL, before other keys", 0, []string{"AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=y"},
			[]string{"profile=keys"}},
		{"a role", 64, []string{"AWS_PROFILE=role"}, nil},
		{"no such profile", 64, []string{"AWS_PROFILE=none"}, nil},
		{"credential_process", 0, []string{"AWS_PROFILE=process"}, nil},
		{"web identity", 0, []string{role, "AWS_WEB_IDENTITY_TOKEN_FILE=" + t.local("token")}, nil},
		{"a web identity that may not", 77, []string{role, "AWS_WEB_IDENTITY_TOKEN_FILE=" + t.local("wrong")}, nil},
		{"a container", 0, []string{container, "AWS_CONTAINER_AUTHORIZATION_TOKEN=the token"}, nil},
		{"a container with a file", 0,
			[]string{container, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + t.local("token")}, nil},
		{"a machine", 0, []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + front.URL}, nil},
		{"nothing", 77, []string{"AWS_EC2_METADATA_DISABLED=true"}, nil},
	} {
		p := t.home
		p.environ = append([]string{"AWS_ENDPOINT_URL_STS=" + front.URL, "AWS_CONFIG_FILE=" + t.local("config"),
			"AWS_SHARED_CREDENTIALS_FILE=" + t.local("credentials"), "HOME=" + filepath.Dir(t.work)}, c.environ...)
		if _, ok := t.endsAt(p, c.code, "inspect", p.object("mnist/"+files[3], c.more...)); ok {
			t.pass("credentials: %s", c.name)
		}
	}
}
