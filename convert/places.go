package convert

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// Objects of object storage stand beside files: inputs are read through source.Files, outputs are made seen beside those of the publisher. A URL is a name without
// parameters everywhere behind take.

// fileScheme begins URLs of files of this machine, which are paths from the command line on.
const fileScheme = "file://"

// parseURL reads the URL in an argument, if there is one: its parameters go to the store, and a file becomes a path.
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

// localPath returns the path in a file's URL. On Windows the slash before a drive is no part of it: file:///C:/x names C:/x.
func localPath(path, goos string) string {
	drive, slash := strings.CutPrefix(path, "/")
	if goos == "windows" && slash && len(drive) > 2 && drive[1] == ':' && (drive[2] == '/' || drive[2] == '\\') {
		return drive
	}
	return path
}

// anyObject tells whether an input is an object.
func (o *inputs) anyObject() bool {
	return object.IsURL(o.Classes) || slices.ContainsFunc(o.args, func(in dataset.Input) bool { return object.IsURL(in.Path) })
}

// files is where inputs are. The context ends requests.
func (o *inputs) files(ctx context.Context) source.Files {
	switch {
	case o.place != nil:
		return o.place
	case !o.anyObject():
		return source.Local{}
	}
	return o.everywhere(ctx, nil)
}

// everywhere is the files of this machine and the objects of a store.
type everywhere struct {
	ctx    context.Context
	store  *object.Store
	opened *opened
	etags  map[string]string // of the versions of objects that are meant, by URL; of others it is the one that is there
}

func (o *inputs) everywhere(ctx context.Context, etags map[string]string) everywhere {
	return everywhere{ctx, o.store, o.opened, etags}
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

// An objectFile is an object whose errors are as those of files are, which callers put the name before.
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
