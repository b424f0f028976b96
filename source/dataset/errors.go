package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// What an [Error] wraps, for errors.Is.
var (
	// ErrUsage means inputs or options that make no sense together, such as two columns of one name or an unknown data set.
	ErrUsage = errors.New("wrong usage")

	// ErrNoInput means a folder without IDX files. A path that does not exist is fs.ErrNotExist.
	ErrNoInput = errors.New("no IDX files")

	// ErrAmbiguous means more than one way to read a folder: two files for one column, or several data sets.
	ErrAmbiguous = errors.New("ambiguous input")

	// ErrSwapped means that the file of the images holds labels and the other way round.
	ErrSwapped = errors.New("images and labels are swapped")

	// ErrClasses means a file of class names that cannot be used.
	ErrClasses = errors.New("bad class names")
)

// An Error says what cannot be used and why.
type Error struct {
	Message string   // found and expected, lower case, with the files' names
	Advice  string   // what the user can do, or empty
	Paths   []string // of the files and folders concerned
	Err     error    // one of the sentinels
}

// Error is the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Hint is what the user can do, or empty.
func (e *Error) Hint() string { return e.Advice }

// usagef is an Error of wrong usage, with advice to follow.
func usagef(advice, format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Advice: advice, Err: ErrUsage}
}

// baseNames joins the base names of paths for a message.
func baseNames(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return strings.Join(names, ", ")
}
