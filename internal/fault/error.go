package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/idxport/idxport/internal/text"
)

// An Error describes what is wrong, where, and what the user can do about it. [New] returns one.
type Error struct {
	Kind   Kind   // "" if Err determines it
	Path   string // of the file, folder or object; "" if unknown, "-" for standard input
	Column string // or ""
	Row    int64  // from 0; −1 if unknown
	Offset int64  // in bytes, in the file or in its decompressed contents; −1 if unknown
	Msg    string // what was found and what was expected, in lower case; "" means Err's message
	Hint   string // what the user can do, or ""
	Err    error  // the cause, for errors.Is and errors.As, or nil; Error shows it only if Msg is ""
}

// New returns an error of the given kind, without a path or position.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Row: -1, Offset: -1, Msg: fmt.Sprintf(format, args...)}
}

// ChangedIn returns the error for an input, at path or "", that changed while it was read.
func ChangedIn(path string) *Error {
	return New(Changed, "").In(path).WithHint("run again once nobody writes to it")
}

// Place returns err with the column, row and offset of its place, where it has none; "" and −1 are
// unknown. It does not change err, which goroutines may share.
func Place(err error, column string, row, offset int64) error {
	known, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	e := *known
	e.Column = cmp.Or(e.Column, column)
	if e.Row < 0 {
		e.Row = row
	}
	if e.Offset < 0 {
		e.Offset = offset
	}
	return &e
}

// At sets the offset, in bytes, and returns e, as the other methods do.
func (e *Error) At(offset int64) *Error { e.Offset = offset; return e }

// InRow sets the row, from 0.
func (e *Error) InRow(row int64) *Error { e.Row = row; return e }

// InColumn sets the name of the column.
func (e *Error) InColumn(name string) *Error { e.Column = name; return e }

// In sets the path.
func (e *Error) In(path string) *Error { e.Path = path; return e }

// WithHint sets the hint; an empty one means that there is none.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Because sets the cause, which the message does not show.
func (e *Error) Because(err error) *Error { e.Err = err; return e }

// Error returns the path, the position and the message, without the hint.
func (e *Error) Error() string {
	path, msg := e.Path, e.Msg
	if path == "-" {
		path = "standard input"
	}
	var where []string
	if e.Column != "" {
		where = append(where, "column "+e.Column)
	}
	if e.Row >= 0 {
		where = append(where, fmt.Sprintf("row %d", e.Row))
	}
	if e.Offset >= 0 {
		where = append(where, fmt.Sprintf("at byte %d", e.Offset))
	}
	if msg == "" {
		msg = cmp.Or[error](e.Err, e.Kind).Error()
	}
	parts := []string{path, strings.Join(where, ", "), msg}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the kind of e.
func (e *Error) Is(target error) bool {
	kind, ok := target.(Kind)
	return ok && kind == e.Kind
}

// In adds the path of a file to err. If err is nil or already has a path, In returns it unchanged.
// If err is an *fs.PathError for the same path, the message has that path once.
func In(path string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := err.(*Error); ok && known.Path == "" { //nolint:errorlint // an error around it says more
		in := *known
		return in.In(path)
	}
	if pe, ok := err.(*fs.PathError); ok && pe.Path == path { //nolint:errorlint // an error around it says more
		err = pe.Err
	}
	if known, ok := errors.AsType[*Error](err); ok && known.Path != "" {
		return err
	}
	return &Error{Path: path, Row: -1, Offset: -1, Err: err}
}

// All returns the Errors in the chain of err, the outermost first.
func All(err error) (all []*Error) {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		all = append(all, e)
	}
	return all
}

// HintOf returns the outermost hint in the chain of err, or "". In it, FILE.csv stands for the path
// of the file that is not compressed, and begins the name of another: >rows.csv might replace it.
func HintOf(err error) (hint string) {
	path := ""
	for _, e := range All(err) {
		hint, path = cmp.Or(hint, e.Hint), cmp.Or(path, e.Path)
	}
	if slices.Contains([]string{".csv", ".tsv"}, strings.ToLower(filepath.Ext(path))) && !text.IsURL(path) {
		file, other := text.Path(path), text.Path(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))+"-")
		hint = strings.NewReplacer("FILE.csv >", file+" >"+other, "FILE.csv", file).Replace(hint)
	}
	return hint
}

// Recovered, deferred, turns a panic into an error: decoders may panic. It keeps a panic's Error.
func Recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		*err = New(Malformed, "the data cannot be decoded: %v", p).
			WithHint("the file is damaged, or its writer has a defect: download or write it again")
	}
}

// A Kind classifies an error. It is an error itself so that errors.Is(err, fault.Truncated) works;
// its text is the message of an [Error] that has no other.
type Kind string

// The kinds. An Error with the Kind "" has the kind of its Err.
const (
	Usage       Kind = "wrong usage"               // the request itself cannot be carried out
	Malformed   Kind = "malformed input"           // the input breaks the rules of its format, or its parts do not fit
	Truncated   Kind = "truncated input"           // the input ends too early
	Unsupported Kind = "unsupported input"         // valid, but no table of IDX columns, or needs a missing feature
	NotFound    Kind = "not found"                 // there is no such input
	Exists      Kind = "already exists"            // the output exists and may not be replaced
	Refused     Kind = "refused"                   // the output cannot be made here, or would destroy something else
	Changed     Kind = "changed while it was read" // an input changed
	IO          Kind = "input or output failed"    // reading or writing failed
	Locked      Kind = "locked"                    // another process is writing the output
	Permission  Kind = "permission denied"         // the user may not do this
	Internal    Kind = "internal error"            // a defect of idxport
	Canceled    Kind = "canceled"                  // the caller ended the work
	PipeClosed  Kind = "the pipe is closed"        // by its reader
	Differs     Kind = "differs"                   // two things that should be equal are not
)

// Error returns the text of the kind.
func (k Kind) Error() string { return string(k) }

// KindOf returns the kind of the outermost [Error] in the chain of err that has one, or else the
// kind of the operating system's error in the chain, [Internal] for any other, and "" for nil.
func KindOf(err error) (kind Kind) {
	for _, e := range All(err) {
		kind = cmp.Or(kind, e.Kind)
	}
	code, isCall := errors.AsType[syscall.Errno](err)
	_, isPath := errors.AsType[*fs.PathError](err)
	switch {
	case kind != "", err == nil:
		return kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, syscall.EPIPE),
		// The codes of Windows: ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED.
		runtime.GOOS == "windows" && (code == 109 || code == 232 || code == 233):
		return PipeClosed
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Permission
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.ENAMETOOLONG), runtime.GOOS == "windows" && code == 123: // ERROR_INVALID_NAME
		return NotFound
	case isCall, isPath, errors.Is(err, io.ErrShortWrite):
		return IO
	}
	return Internal
}
