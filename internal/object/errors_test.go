package object

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// signature represents everything that must not be shown.
const signature = "c2VjcmV0c2lnbmF0dXJl"

// hostile are texts of errors that quote requests and credentials.
var hostile = []string{
	"Get \"https://b.s3/k?X-Amz-Signature=" + signature + "&X-Amz-Credential=" + signature + "\": dial tcp: refused",
	"https://account.blob.core.windows.net/c/k?sv=2024&sig=" + signature,
	"SignatureDoesNotMatch: Signature=" + signature,
	"Authorization: Bearer " + signature,
	"AWS_SECRET_ACCESS_KEY = " + signature,
	"the request had secret_access_key: " + signature,
	"token " + strings.Repeat(signature, 10),
	"x-amz-security-token:" + signature,
	"AKIA" + signature,
	"password: \"" + signature + "\"",
}

func TestErrorsShowNoSecrets(t *testing.T) {
	t.Parallel()
	a := address{"s3", "bkt", "k"}
	for _, text := range hostile {
		for name, err := range map[string]error{
			"as it is":        errors.New(text),
			"in others":       fmt.Errorf("operation error S3: %w", errors.New(text)),
			"of a connection": temporary("no answer: %s", scrub(text)),
		} {
			got := errorAt(a, classify(t.Context(), err))
			for inner := got; inner != nil; inner = errors.Unwrap(inner) {
				if strings.Contains(inner.Error(), signature) {
					t.Errorf("%s: %q shows it: %v", name, text, inner)
				}
			}
			if !strings.HasPrefix(got.Error(), "s3://bkt/k: ") {
				t.Errorf("%s: found %q, expected the URL first", name, got)
			}
		}
	}
}

func TestScrubKeepsWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"unexpected EOF", "dial tcp 127.0.0.1:7070: connect: connection refused",
		"remote error: tls: bad record MAC"} {
		if got := scrub(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := scrub(strings.Repeat("word ", 1000)); len(got) > maxText+len("…") {
		t.Errorf("found %d bytes", len(got))
	}
}
