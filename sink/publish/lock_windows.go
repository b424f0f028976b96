package publish

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"

	"github.com/idxport/idxport/fault"
)

// A lock file that is just being deleted cannot be opened for a moment.
const (
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// fileLock is a file opened without sharing, so that nobody else can open it, which the last close deletes, also when the process
// is killed.
type fileLock struct{ handle windows.Handle }

// takeLock opens the file at path for this process alone. It fails with fault.Locked if another run has it open.
func takeLock(path string) (*fileLock, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		var handle windows.Handle
		handle, err = windows.CreateFile(name, windows.GENERIC_READ|windows.DELETE, 0, nil, windows.OPEN_ALWAYS,
			windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
		switch {
		case err == nil:
			return &fileLock{handle}, nil
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
			return nil, fault.Locked
		case !errors.Is(err, windows.ERROR_DELETE_PENDING) && !errors.Is(err, windows.ERROR_ACCESS_DENIED):
			return nil, err
		}
		time.Sleep(lockPause)
	}
	return nil, err
}

// unlink leaves the deletion to Close.
func (l *fileLock) unlink() error { return nil }

func (l *fileLock) Close() error { return windows.CloseHandle(l.handle) }
