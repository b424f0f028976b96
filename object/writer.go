package object

import (
	"errors"
	"io/fs"
)

// partSize is how long the first parts of an upload are, in bytes; less than a part is sent at the end.
const partSize = 8 << 20

// A Writer is an object while it is written, from start to end and by one goroutine at a time. Nothing is seen under its key before Commit has
// succeeded. Whoever made it calls Discard in the end, which has no effect after Commit.
type Writer struct {
	address address
	upload  upload
	count   int64
	err     error // the first failure: it is repeated
	ended   bool
}

// Write appends p. After an error the object cannot be committed.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, &Error{URL: w.address.String(), Reason: "written to after its end", Err: fs.ErrClosed}
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.upload.Write(p)
	w.count += int64(n)
	return n, w.fail(err)
}

// Count returns how many bytes were written.
func (w *Writer) Count() int64 { return w.count }

// Complete waits until the storage has everything that can be there before Commit: all that is left then is to make it seen. It may be called more than
// once; nothing may be written after it.
func (w *Writer) Complete() error {
	if w.err != nil || w.ended {
		return w.err
	}
	return w.fail(w.upload.complete())
}

// Commit makes the object seen under its key, whole, and replaces what is there only if that was allowed; else the error wraps ErrExists.
func (w *Writer) Commit() error {
	if w.ended {
		return errors.Join(w.err, fs.ErrClosed)
	}
	if err := w.Complete(); err != nil {
		return err
	}
	if err := w.fail(w.upload.commit()); err != nil {
		return err
	}
	w.ended = true
	return nil
}

// Discard ends the upload and removes what was sent, unless Commit has succeeded. It waits for the requests that are on their way.
func (w *Writer) Discard() {
	if w.ended {
		return
	}
	w.ended = true
	w.upload.discard()
}

func (w *Writer) fail(err error) error {
	if err != nil && w.err == nil {
		w.err = errorAt(w.address, toWrite(err))
	}
	return w.err
}

// toWrite is an error of a request that writes: what is not found then is no input.
func toWrite(err error) error {
	if isNotFound(err) {
		return &failure{kind: ErrNoBucket}
	}
	return err
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
