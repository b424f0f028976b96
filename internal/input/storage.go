package input

import (
	"context"
	"io/fs"
	"sync"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/source"
)

// A Storage opens inputs: local files, objects and files on web servers. It records what is
// learned from opening them, by path, and is used by many goroutines.
type Storage struct {
	Store *object.Store

	versions   sync.Map // ETags of files that were opened
	sequential sync.Map // whether an IDX file can only be read from its start
}

// About returns the version of the object at path, and whether it is an IDX file that can only be
// read from its start: "" and false if it was not opened.
func (s *Storage) About(path string) (etag string, sequential bool) {
	if version, _ := s.versions.Load(path); text.IsURL(path) {
		etag, _ = version.(string)
	}
	stream, _ := s.sequential.Load(path)
	return etag, stream == true
}

// Files returns the files of s. Requests are canceled when ctx is done.
func (s *Storage) Files(ctx context.Context) source.Files { return files{ctx, s} }

type files struct {
	ctx     context.Context
	storage *Storage
}

// Open opens a file, always in the same version if it has an ETag.
func (f files) Open(name string) (opened source.File, err error) {
	if text.IsURL(name) {
		opened, err = f.storage.Store.Open(f.ctx, name)
	} else {
		opened, err = source.Local{}.Open(name)
	}
	if err != nil {
		return nil, err
	}
	version := opened.(interface{ ETag() string }).ETag()
	if before, _ := f.storage.versions.LoadOrStore(name, version); before != version {
		_ = opened.Close() // read-only: an error does not matter
		return nil, fault.ChangedIn(name)
	}
	return opened, nil
}

func (f files) Stat(name string) (fs.FileInfo, error) {
	if !text.IsURL(name) {
		return source.Local{}.Stat(name)
	}
	return f.storage.Store.Stat(f.ctx, name)
}

func (f files) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	if !text.IsURL(name) {
		return source.Local{}.ReadDir(name, limit)
	}
	return f.storage.Store.ReadDir(f.ctx, name, limit)
}

// Interruptible returns the results of f, or context.Cause(ctx) once ctx is done: the program is
// about to end then, and f may be waiting for a pipe that nobody writes to.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var value T
	done := make(chan error, 1)
	go func() { done <- pipeline.Recover(func() (err error) { value, err = f(); return err }) }()
	select {
	case err := <-done:
		return value, err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}
