package plan

import (
	"errors"

	"github.com/idxport/idxport/fault"
)

// Causes that decide how a commit or an abort goes on.
var (
	errAborted    = errors.New("aborted")    // a commit met an abort
	errUnreadable = errors.New("unreadable") // what a task tells is not what it should be
)

// fail is a fault with what the user can do.
func fail(kind fault.Kind, advice, message string, values ...any) *fault.Error {
	return fault.New(kind, message, values...).WithHint("%s", advice)
}
