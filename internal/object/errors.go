package object

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// errTemporary is the cause of errors after which the next attempt may succeed.
var errTemporary = errors.New("may succeed if repeated")

// messages has, for each kind of error, the beginning of its messages and the hint.
var messages = map[fault.Kind]struct{ words, hint string }{
	fault.Usage:    {"bad URL", ""},
	fault.NotFound: {"not found", ""},
	fault.Permission: {"access denied", "check your credentials (AWS_PROFILE, or ?anonymous=true for public buckets) " +
		"and permissions; S3 also denies access to a missing object if you may not list the bucket"},
	fault.Exists:  {"already exists", "--overwrite replaces it"},
	fault.Locked:  {"another run is writing this object", "run again once it has ended"},
	fault.Refused: {"the bucket does not exist", "make the bucket, or check its name"},
	fault.IO:      {"transfer failed", "run again; no incomplete output is left"},
	fault.Changed: {"the file changed while it was read", fault.ChangedIn("").Hint},
}

// failed returns an error about an object. The text must be safe to show: errors of the client may
// quote requests that contain secrets.
func failed(kind fault.Kind, format string, args ...any) *fault.Error {
	e := fault.New(kind, "%s", messages[kind].words).WithHint("%s", messages[kind].hint)
	if text := fmt.Sprintf(format, args...); text != "" {
		e.Msg += ": " + text
	}
	if kind == fault.NotFound {
		e.Err = fs.ErrNotExist // as for files
	}
	return e
}

// temporary returns the error of a request that may succeed if it is repeated.
func temporary(format string, args ...any) *fault.Error {
	return failed(fault.IO, format, args...).Because(errTemporary)
}

// Limits in messages for text from servers and libraries, in bytes.
const maxWord, maxText = 60, 300

// suspicious are parts of words that may be secret, in lower case.
var suspicious = []string{"?", "&", "=", "%", "x-amz", "signature", "credential", "token", "secret",
	"bearer", "akia", "asia", "authorization", "password", "://", "@"}

func isSuspicious(word string) bool {
	lower := strings.ToLower(word)
	return slices.ContainsFunc(suspicious, func(s string) bool { return strings.Contains(lower, s) })
}

// scrub makes text from servers and libraries safe to show. It cuts the text off before the first
// suspicious word, as the following words may belong to the same secret.
func scrub(text string) string {
	words := strings.Fields(text)
	bad := slices.IndexFunc(words, func(w string) bool { return len(w) > maxWord || isSuspicious(w) })
	if bad >= 0 {
		words = append(words[:bad], "…")
	}
	text = strings.Join(words, " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// errorCode matches an error code of S3. Other text from a server may contain secrets.
var errorCode = text.Pattern(`^[A-Za-z0-9.]{1,64}$`)
