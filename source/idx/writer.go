package idx

import (
	"fmt"
	"io"
)

// A Writer writes an IDX file from start to end. It writes the header when it is made.
type Writer struct {
	w             io.Writer
	header        Header
	size, written int64 // bytes of records
}

// NewWriter writes the header h to w and returns a Writer for the records, of which h has the
// number. It fails if h is not valid: see [Header.AppendBinary].
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	head, err := h.AppendBinary(nil)
	if err == nil {
		_, err = w.Write(head)
	}
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, header: h, size: h.PayloadSize()}, nil
}

// Write writes p: big-endian elements in C order, of one record, of several, or of a part of one.
// If p has more bytes than the header leaves, it writes nothing and fails. The function Write of
// package [encoding/binary] makes such bytes of numbers. Nothing is buffered: if records are small,
// let the Writer write to a [bufio.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	if int64(len(p)) > w.size-w.written {
		return 0, w.wrongSize(w.written + int64(len(p)))
	}
	n, err := w.w.Write(p)
	w.written += int64(n)
	return n, err
}

// Close fails if fewer bytes were written than the header says. It does not close the underlying
// writer.
func (w *Writer) Close() error {
	if w.written < w.size {
		return w.wrongSize(w.written)
	}
	return nil
}

// wrongSize returns the error for records that do not have the size that the header says.
func (w *Writer) wrongSize(found int64) error {
	return fmt.Errorf("found %d bytes of records, expected %d for %s", found, w.size, w.header)
}
