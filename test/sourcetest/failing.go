package sourcetest

import "io"

// A FailingReaderAt is a file of which one read fails with Err, after Left successful ones.
type FailingReaderAt struct {
	File  io.ReaderAt
	Left  int // negative: no read fails
	Calls int
	Err   error
}

// ReadAt reads from the file, or fails once. Reads after that succeed, so a caller that ignores the
// error is detected.
func (f *FailingReaderAt) ReadAt(p []byte, at int64) (int, error) {
	f.Calls++
	if f.Left--; f.Left == -1 {
		return 0, f.Err
	}
	return f.File.ReadAt(p, at)
}
