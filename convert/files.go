package convert

import (
	"context"
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/source"
)

// openedInputs records what a run has learned from opening its inputs, indexed by path. Its zero
// value is ready for use by many goroutines.
type openedInputs struct {
	mu         sync.Mutex
	etags      map[string]string // versions of objects
	sequential map[string]bool   // IDX files that can only be read from their start
}

// recordObject records the version of an object. A run reads a single version of an object,
// however often it opens it. Storage without ETags reports an empty one for every version.
func (k *openedInputs) recordObject(url, etag string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, ok := k.etags[url]
	switch {
	case ok && before != etag:
		return fault.In(url, fault.Changed)
	case k.etags == nil:
		k.etags = map[string]string{}
	}
	k.etags[url] = etag
	return nil
}

// recordIDX records how the IDX file at path can be read; onlyOnce is true if it cannot be
// opened again.
func (k *openedInputs) recordIDX(path string, t *source.IDX, onlyOnce bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sequential == nil {
		k.sequential = map[string]bool{}
	}
	k.sequential[path] = onlyOnce || !t.Seekable()
}

// about returns the ETag of the input at path if it is an object, and whether it can only be read
// from its start.
func (k *openedInputs) about(path string) (etag string, sequential bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.etags[path], k.sequential[path]
}

func newStore() *object.Store { return &object.Store{} }

// parseURL separates the URL in an argument, if it has one, from its parameters, which go to the
// store. A file:// URL becomes a path.
func parseURL(store *object.Store, arg string) (string, error) {
	name, err := store.ParseArg(arg)
	return localPath(name), err
}

// localPath replaces a file:// URL in an argument, alone or after FORMAT= or NAME=, by the path of
// the file. Other arguments are returned as they are.
func localPath(arg string) string {
	before, path, ok := strings.Cut(arg, "file://")
	if ok && (before == "" || strings.HasSuffix(before, "=") && !strings.Contains(before, "/")) {
		return before + pathInURL(path, runtime.GOOS)
	}
	return arg
}

// pathInURL returns the path in a file's URL. On Windows the slash before a drive letter is not
// part of the path: file:///C:/x is C:/x.
func pathInURL(path, goos string) string {
	drive, slash := strings.CutPrefix(path, "/")
	if goos == "windows" && slash && len(drive) > 2 && drive[1] == ':' && (drive[2] == '/' || drive[2] == '\\') {
		return drive
	}
	return path
}

// storage implements source.Files for local files, objects and files on web servers.
type storage struct {
	ctx    context.Context
	store  *object.Store
	opened *openedInputs
}

func (s storage) Open(name string) (source.File, error) {
	if !object.IsURL(name) {
		return source.Local{}.Open(name)
	}
	r, err := s.store.Open(s.ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.opened.recordObject(name, r.ETag()); err != nil {
		_ = r.Close() // read-only: an error does not matter
		return nil, err
	}
	return r, nil
}

func (s storage) Stat(name string) (fs.FileInfo, error) {
	if !object.IsURL(name) {
		return source.Local{}.Stat(name)
	}
	return s.store.Stat(s.ctx, name)
}

func (s storage) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	if !object.IsURL(name) {
		return source.Local{}.ReadDir(name, limit)
	}
	return s.store.ReadDir(s.ctx, name, limit)
}

// Interruptible calls f and returns its results. If ctx is done first, it returns
// context.Cause(ctx) and leaves f running: f may be waiting for a pipe that nobody writes to, and
// the program is about to end.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = pipeline.Recover(func() (err error) { r.value, err = f(); return err })
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}
