package fault

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

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
	path, msg := cmp.Or(map[string]string{"-": "standard input"}[e.Path], e.Path), e.Msg
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
