package plan

import (
	"errors"
	"fmt"
)

// The kinds of failure; test for them with errors.Is.
var (
	// ErrPlan: the file is no plan, or not the one that it says it is.
	ErrPlan = errors.New("no usable plan")
	// ErrUsage: there is no such part.
	ErrUsage = errors.New("not in the plan")
	// ErrInput: an input is not what it was when the plan was made.
	ErrInput = errors.New("not the input of the plan")
	// ErrDiffers: a part is there with other bytes.
	ErrDiffers = errors.New("other bytes")
	// ErrIncomplete: parts are missing, or are not what their tasks told.
	ErrIncomplete = errors.New("incomplete")
)

// errAborted: a commit met an abort. It is ErrIncomplete too.
var errAborted = fmt.Errorf("%w: aborted", ErrIncomplete)

// An Error says what was found and expected.
type Error struct {
	Message string
	Advice  string
	Err     error // one of the kinds
}

// Error is the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Err }

// Hint is what the user can do.
func (e *Error) Hint() string { return e.Advice }

func fail(kind error, advice, message string, values ...any) error {
	return &Error{Message: fmt.Sprintf(message, values...), Advice: advice, Err: kind}
}
