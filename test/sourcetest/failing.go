package sourcetest

import "io"

// A FailingReaderAt is a file of which one read fails, after Left successful ones.
type FailingReaderAt struct {
	File  io.ReaderAt
	Left  int // less than 0: none fails
	Calls int
	Err   error
}

// ReadAt reads from the file, or fails once: an ignored error is detected because everything after
// it succeeds.
func (f *FailingReaderAt) ReadAt(p []byte, at int64) (int, error) {
	f.Calls++
	if f.Left--; f.Left == -1 {
		return 0, f.Err
	}
	return f.File.ReadAt(p, at)
}
