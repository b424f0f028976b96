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

	etags      sync.Map // versions of objects
	sequential sync.Map // whether an IDX file can only be read from its start
}

// About returns the version of the object at path, and whether it is an IDX file that can only be
// read from its start: "" and false if it was not opened.
func (s *Storage) About(path string) (etag string, sequential bool) {
	version, _ := s.etags.Load(path)
	etag, _ = version.(string)
	stream, _ := s.sequential.Load(path)
	return etag, stream == true
}

// Files returns the files of s. Requests are canceled when ctx is done.
func (s *Storage) Files(ctx context.Context) source.Files { return files{ctx, s} }

type files struct {
	ctx     context.Context
	storage *Storage
}

func (f files) Open(name string) (source.File, error) {
	if !text.IsURL(name) {
		return source.Local{}.Open(name)
	}
	r, err := f.storage.Store.Open(f.ctx, name)
	if err != nil {
		return nil, err
	}
	// A run reads a single version of an object, however often it opens it. Storage without ETags
	// reports an empty one for every version.
	if before, _ := f.storage.etags.LoadOrStore(name, r.ETag()); before != r.ETag() {
		_ = r.Close() // read-only: an error does not matter
		return nil, fault.In(name, fault.Changed)
	}
	return r, nil
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
