package inflate

import (
	"errors"
	"fmt"
)

// ErrCorrupt is what every [CorruptError] wraps.
var ErrCorrupt = errors.New("corrupt data")

// A CorruptError reports data that is no DEFLATE stream.
type CorruptError struct {
	Offset  int64  // bytes of the stream used when it was found; of the last one perhaps not all bits
	Problem string // what was found
}

// Error returns a message with the position.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("deflate stream, at byte %d: %s", e.Offset, e.Problem)
}

// Unwrap returns [ErrCorrupt].
func (e *CorruptError) Unwrap() error { return ErrCorrupt }
