//go:build !lean

package object

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
)

// signature represents everything that must not be shown.
const signature = "c2VjcmV0c2lnbmF0dXJl"

// hostile are texts of errors that quote requests and credentials.
var hostile = []string{
	"Get \"https://b.s3.amazonaws.com/k?X-Amz-Signature=" + signature + "&X-Amz-Credential=" + signature + "\": dial tcp: refused",
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
			"of a connection": connectionText(text),
		} {
			got := errorAt(a, classify(err))
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

// connectionText returns the error of a connection that failed with a text.
func connectionText(text string) error { return temporary("no answer: %s", scrub(text)) }

func TestScrubKeepsWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"connection refused", "unexpected EOF", "dial tcp 127.0.0.1:7070: connect: connection refused", "remote error: tls: bad record MAC"} {
		if got := scrub(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := scrub(strings.Repeat("word ", 1000)); len(got) > maxText+len("…") {
		t.Errorf("found %d bytes", len(got))
	}
}

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	a := address{"s3", "bkt", "k"}
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	cases := []struct {
		err    error
		is     error
		text   string
		hinted bool
	}{
		{failed(fault.NotFound, ""), fs.ErrNotExist, "s3://bkt/k: not found", false},
		{failed(fault.Permission, "AccessDenied (status 403)"), fault.Permission, "s3://bkt/k: access denied: AccessDenied (status 403)", true},
		{failed(fault.Exists, ""), fault.Exists, "s3://bkt/k: already exists", true},
		{failed(fault.Changed, ""), fault.Changed, "s3://bkt/k: the file changed while it was read", true},
		{temporary("no answer"), fault.IO, "s3://bkt/k: transfer failed: no answer", true},
		{context.Cause(ctx), cause, "interrupted", false},
		{errorAt(a, failed(fault.NotFound, "")), fault.NotFound, "s3://bkt/k: not found", false}, // once
	}
	for _, c := range cases {
		got := errorAt(a, c.err)
		hinted := fault.HintOf(got) != ""
		if !errors.Is(got, c.is) || got.Error() != c.text || hinted != c.hinted {
			t.Errorf("found %q, hint %v, expected %q, hint %v, that is %v", got, hinted, c.text, c.hinted, c.is)
		}
	}
	if errorAt(a, nil) != nil {
		t.Error("no error became one")
	}
}
