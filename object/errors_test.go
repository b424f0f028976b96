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

// signature stands for all that must not be shown.
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
	a := address{"s3", "b", "k"}
	for _, text := range hostile {
		for name, err := range map[string]error{
			"as it is":          errors.New(text),
			"in others":         fmt.Errorf("operation error S3: %w", errors.New(text)),
			"of a connection":   &failure{kind: ErrTransfer, text: reason(errors.New(text))},
			"of a broken body":  broken(errors.New(text)),
			"after many trials": given(broken(errors.New(text)), 8),
		} {
			got := errorAt(a, err)
			for inner := got; inner != nil; inner = errors.Unwrap(inner) {
				if strings.Contains(inner.Error(), signature) {
					t.Errorf("%s: %q shows it: %v", name, text, inner)
				}
			}
			if !strings.HasPrefix(got.Error(), "s3://b/k: ") {
				t.Errorf("%s: found %q, expected the URL first", name, got)
			}
		}
	}
}

func TestScrubKeepsWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"connection refused", "unexpected EOF", "dial tcp 127.0.0.1:7070: connect: connection refused", "remote error: tls: bad record MAC"} {
		if got := scrub(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := scrub(strings.Repeat("word ", 1000)); len(got) > longestText+len("…") {
		t.Errorf("found %d bytes", len(got))
	}
}

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	a := address{"s3", "b", "k"}
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	cases := []struct {
		err    error
		is     error
		text   string
		hinted bool
	}{
		{&failure{kind: ErrNotFound}, fs.ErrNotExist, "s3://b/k: not found", false},
		{&failure{kind: ErrDenied, text: "AccessDenied (status 403)"}, fs.ErrPermission, "s3://b/k: access denied: AccessDenied (status 403)", true},
		{&failure{kind: ErrExists}, fs.ErrExist, "s3://b/k: already exists", true},
		{&failure{kind: fault.Changed}, fault.Changed, "s3://b/k: changed while it was read", true},
		{given(&failure{kind: ErrTransfer, text: "no answer", again: true}, 8), ErrTransfer, "s3://b/k: transfer failed: no answer, after 8 attempts", true},
		{ended(ctx), cause, "interrupted", false},
		{errorAt(a, &failure{kind: ErrNotFound}), ErrNotFound, "s3://b/k: not found", false}, // once
	}
	for _, c := range cases {
		got := errorAt(a, c.err)
		var hint interface{ Hint() string }
		hinted := errors.As(got, &hint) && hint.Hint() != ""
		if !errors.Is(got, c.is) || got.Error() != c.text || hinted != c.hinted {
			t.Errorf("found %q, hint %v, expected %q, hint %v, that is %v", got, hinted, c.text, c.hinted, c.is)
		}
	}
	if errorAt(a, nil) != nil {
		t.Error("no error became one")
	}
}
