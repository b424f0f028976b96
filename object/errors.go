package object

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
)

// A sentinel is an error that is also a more general one.
type sentinel struct {
	text string
	is   error
}

func (s *sentinel) Error() string { return s.text }
func (s *sentinel) Unwrap() error { return s.is }

// The kinds of failure; test for them with errors.Is. An object that is not what it was when it was opened is fault.Changed.
var (
	// ErrNotFound: there is no such object, prefix or bucket. It is fs.ErrNotExist too.
	ErrNotFound error = &sentinel{"not found", fs.ErrNotExist}
	// ErrDenied: there are no credentials, or they do not suffice. It is fs.ErrPermission too.
	ErrDenied error = &sentinel{"access denied", fs.ErrPermission}
	// ErrExists: the key is taken and may not be replaced. It is fs.ErrExist too.
	ErrExists error = &sentinel{"already exists", fs.ErrExist}
	// ErrNoBucket: the bucket that shall hold an object does not exist.
	ErrNoBucket = errors.New("the bucket does not exist")
	// ErrTransfer: the storage or the way to it failed, also after all attempts.
	ErrTransfer = errors.New("transfer failed")
	// ErrNoUpload: an upload was ended, by hand or by a rule of the bucket, before its object was seen; or it has other parts. It is ErrTransfer too.
	ErrNoUpload error = &sentinel{"the upload is not there any more", ErrTransfer}
	// ErrReceipt: a receipt is not one that Writer.Hold has made.
	ErrReceipt = errors.New("not the receipt of an upload")
	// ErrHold: the storage shows what it has, so one process cannot leave it to another to make an object seen.
	ErrHold = errors.New("the storage cannot hold an object unseen")
	// ErrLong: an object is longer than what it should be.
	ErrLong = errors.New("the object is too long")
	// ErrBuild: this build of the program has no such storage.
	ErrBuild = errors.New("not in this build")
)

// An Error says which object failed, and why. It never holds the error of a driver, whose text may quote a request with what is secret in it.
type Error struct {
	URL    string // without parameters; empty where an error around this one says it
	Reason string // what was found; may be empty
	Err    error  // one of the sentinels, or of package context
	hint   string
}

// Error is the message, without the hint.
func (e *Error) Error() string {
	text := e.Err.Error()
	if e.URL != "" {
		text = e.URL + ": " + text
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what the user can do about it; it may be empty.
func (e *Error) Hint() string {
	switch {
	case e.hint != "":
		return e.hint
	case errors.Is(e.Err, ErrExists):
		return "--overwrite replaces it"
	case errors.Is(e.Err, ErrDenied):
		return "check who you are (for S3 AWS_PROFILE, or ?anonymous=true for public buckets) and what you may; where you may not list, a key that does not exist is denied as well"
	case errors.Is(e.Err, ErrNoUpload):
		return "make the object again; a lifecycle rule that aborts incomplete uploads must leave them the time that the work takes"
	case errors.Is(e.Err, ErrTransfer):
		return "run again; nothing is left half made"
	case errors.Is(e.Err, fault.Changed):
		return "run again once nobody writes to it"
	}
	return ""
}

// A failure is what went wrong with one request, in words that are safe to show.
type failure struct {
	kind  error  // a sentinel
	text  string // more about it
	again bool   // it may pass: a request that is repeated may succeed
	hint  string
}

func (f *failure) Error() string {
	if f.text == "" {
		return f.kind.Error()
	}
	return f.kind.Error() + ": " + f.text
}
func (f *failure) Unwrap() error { return f.kind }

// errorAt puts the address of the object before an error that the rest of the package made.
func errorAt(a address, err error) error {
	var f *failure
	var known *Error
	var over *abandoned
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &over):
		return over.cause
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &f):
		return &Error{URL: a.String(), Reason: f.text, Err: f.kind, hint: f.hint}
	}
	return &Error{URL: a.String(), Reason: scrub(err.Error()), Err: ErrTransfer}
}

// Bounds on what is shown of the text of others.
const (
	longestWord = 60
	longestText = 300
)

// suspicious are what words of requests have that nobody else should see: parameters, signatures, keys and tokens, in any case.
var suspicious = []string{"?", "&", "=", "%", "x-amz", "signature", "credential", "token", "secret", "bearer", "akia", "asia", "authorization", "password", "://"}

// scrub makes the text of a foreign error safe to show: it ends before the first word that looks like a part of a signed request, as nobody knows how many
// that follow belong to it.
func scrub(text string) string {
	var safe []string
	for _, w := range strings.Fields(text) {
		lower := strings.ToLower(w)
		if len(w) > longestWord || slices.ContainsFunc(suspicious, func(s string) bool { return strings.Contains(lower, s) }) {
			safe = append(safe, "…")
			break
		}
		safe = append(safe, w)
	}
	text = strings.Join(safe, " ")
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	return text
}
