package object

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
)

// ErrNoUpload is the cause of a fault.IO for an upload that was ended, by hand or by a rule of the
// bucket, before its object was visible, or that has other parts.
var ErrNoUpload = errors.New("no such upload")

// errAgain is the cause of errors that may be gone at the next attempt.
var errAgain = errors.New("may succeed if repeated")

// sayings are how errors of a kind begin, and what the user can do about them.
var sayings = map[fault.Kind]struct{ words, hint string }{
	fault.Usage:    {"bad URL", ""},
	fault.NotFound: {"not found", ""},
	fault.Permission: {"access denied", "check your credentials (AWS_PROFILE, or ?anonymous=true for public buckets) and permissions; " +
		"without permission to list, a key that does not exist is denied as well"},
	fault.Exists:  {"already exists", "--overwrite replaces it"},
	fault.Refused: {"the bucket does not exist", "make the bucket, or check its name"},
	fault.IO:      {"transfer failed", "run again; nothing is left half made"},
	fault.Changed: {"the file changed while it was read", "run again once nobody writes to it"},
}

// failed returns an error about an object. The text says what was found, in words that are safe to
// show: never those of the client, which may quote a request with what is secret in it.
func failed(kind fault.Kind, format string, args ...any) *fault.Error {
	e := fault.New(kind, "%s", sayings[kind].words).WithHint("%s", sayings[kind].hint)
	if text := fmt.Sprintf(format, args...); text != "" {
		e.Msg += ": " + text
	}
	if kind == fault.NotFound {
		e.Err = fs.ErrNotExist // as for files
	}
	return e
}

// again returns an error of a transfer that may succeed if it is repeated.
func again(format string, args ...any) *fault.Error {
	return failed(fault.IO, format, args...).Because(errAgain)
}

// noUpload returns the error for an upload that is gone.
func noUpload(format string, args ...any) *fault.Error {
	return fault.New(fault.IO, "the upload is not there any more: "+format, args...).Because(ErrNoUpload).WithHint("make the object again; a lifecycle rule that aborts incomplete uploads must leave them the time that the work takes")
}

// toWrite is the error of a request that writes: what is not found then is no input.
func toWrite(err error) error {
	if errors.Is(err, fault.NotFound) {
		return failed(fault.Refused, "")
	}
	return err
}

// Bounds on what is shown of the text of others.
const (
	maxWord = 60
	maxText = 300
)

// suspicious are what words of requests have that nobody else should see: parameters, signatures,
// keys and tokens, in any case.
var suspicious = []string{"?", "&", "=", "%", "x-amz", "signature", "credential", "token", "secret", "bearer", "akia", "asia", "authorization", "password", "://"}

// scrub makes the text of a foreign error safe to show: it ends before the first word that looks like
// a part of a signed request, as nobody knows how many that follow belong to it.
func scrub(text string) string {
	var safe []string
	for _, w := range strings.Fields(text) {
		lower := strings.ToLower(w)
		if len(w) > maxWord || slices.ContainsFunc(suspicious, func(s string) bool { return strings.Contains(lower, s) }) {
			safe = append(safe, "…")
			break
		}
		safe = append(safe, w)
	}
	text = strings.Join(safe, " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
