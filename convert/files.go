package convert

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/source"
)

// opened is what a run knows of its inputs from having opened them, by their paths as reports have
// them. Its zero value is ready for use, from many goroutines.
type opened struct {
	mu         sync.Mutex
	etags      map[string]string // of objects
	sequential map[string]bool   // of IDX files: they can be read only from their start
}

// object notes the version of an object. A run reads one version, however often it opens the
// object: another one is fault.Changed. Storage that has no ETags says nothing.
func (o *opened) object(url, etag string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, ok := o.etags[url]; ok && before != etag {
		return fault.In(url, fault.Changed)
	}
	if o.etags == nil {
		o.etags = map[string]string{}
	}
	o.etags[url] = etag
	return nil
}

// idx notes how the IDX file at path can be read; once reports that it cannot be opened again.
func (o *opened) idx(path string, t *source.IDX, once bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sequential == nil {
		o.sequential = map[string]bool{}
	}
	_, _, entered := t.Span(0, 0)
	o.sequential[path] = once || !entered
}

// of is the ETag of the input at path, if it is an object, and whether it can be read only from its
// start.
func (o *opened) of(path string) (etag string, sequential bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.etags[path], o.sequential[path]
}

// fileScheme begins URLs of files of this machine, which are paths from the command line on.
const fileScheme = "file://"

// parseURL reads the URL in an argument, if there is one: its parameters go to the store, and a
// file becomes a path.
func parseURL(store *object.Store, arg string) (string, error) {
	name, err := store.ParseArg(arg)
	return LocalPath(name), err
}

// LocalPath is the path in an argument that names a file of this machine by URL, after FORMAT= or
// NAME= perhaps. Other arguments stay as they are.
func LocalPath(arg string) string {
	before, path, ok := strings.Cut(arg, fileScheme)
	if ok && (before == "" || strings.HasSuffix(before, "=") && !strings.Contains(before, "/")) {
		return before + localPath(path, runtime.GOOS)
	}
	return arg
}

// localPath returns the path in a file's URL. On Windows the slash before a drive is no part of it:
// file:///C:/x names C:/x.
func localPath(path, goos string) string {
	drive, slash := strings.CutPrefix(path, "/")
	if goos == "windows" && slash && len(drive) > 2 && drive[1] == ':' && (drive[2] == '/' || drive[2] == '\\') {
		return drive
	}
	return path
}

// everywhere is the files of this machine and the objects of a store.
type everywhere struct {
	ctx    context.Context
	store  *object.Store
	opened *opened
	etags  map[string]string // of the versions of objects that are meant, by URL; of others it is the one that is there
}

func (e everywhere) Open(name string) (source.File, error) {
	if !object.IsURL(name) {
		return source.Local{}.Open(name)
	}
	r, err := e.open(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if err := e.opened.object(name, r.ETag()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return objectFile{r, name}, nil
}

// open opens the version of an object that is meant.
func (e everywhere) open(name string) (*object.Reader, error) {
	etag := e.etags[name]
	if etag == "" {
		return e.store.Open(e.ctx, name)
	}
	r, err := e.store.OpenVersion(e.ctx, name, etag)
	if errors.Is(err, fault.Changed) { // not while it is read, but since the plan was made
		err = fault.New(fault.Malformed, "it is not the version that the plan was made of").WithHint("make a new plan")
	}
	return r, err
}

func (e everywhere) Stat(name string) (fs.FileInfo, error) {
	if !object.IsURL(name) {
		return source.Local{}.Stat(name)
	}
	info, err := e.store.Stat(e.ctx, name)
	return info, pathError("stat", name, err)
}

func (e everywhere) ReadDir(name string, most int) ([]fs.DirEntry, error) {
	if !object.IsURL(name) {
		return source.Local{}.ReadDir(name, most)
	}
	entries, err := e.store.ReadDir(e.ctx, name)
	return entries, pathError("open", name, err)
}

// An objectFile is an object whose errors are as those of files are, which callers put the name
// before.
type objectFile struct {
	*object.Reader
	name string
}

func (f objectFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	return n, withoutURL(err)
}

func (f objectFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.Reader.ReadAt(p, offset)
	return n, withoutURL(err)
}

// pathError is err as package os has them.
func pathError(op, name string, err error) error {
	if err == nil || !errors.As(err, new(*fault.Error)) {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: withoutURL(err)}
}

// withoutURL is an error of an object without its URL.
func withoutURL(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	bare := *e
	bare.Path = ""
	return &bare
}

// Interruptible is f, but it returns when ctx is done although f waits for a pipe that nobody
// writes to; f is left behind then, as the program is about to end.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = pipeline.Recovering(func() (err error) { r.value, err = f(); return err })
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
