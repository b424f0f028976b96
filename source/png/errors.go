package png

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/idxport/idxport/fault"
)

// ErrFolder is the sentinel for a folder that is no table of images. A file that is no usable image is a picture.ErrFormat.
var ErrFolder = errors.New("not a usable folder of images")

// An Error says what is wrong with the folder.
type Error struct {
	Message string // found and expected, lower case
	Advice  string // what the user can do, or empty
}

// Error is the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns ErrFolder.
func (e *Error) Unwrap() error { return ErrFolder }

// Hint is what the user can do, or empty.
func (e *Error) Hint() string { return e.Advice }

func fail(advice, format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Advice: advice}
}

// inFile puts the path of a file in the folder before err.
func (t *Table) inFile(name string, err error) error {
	return fault.In(filepath.Join(t.path, filepath.FromSlash(name)), err)
}
