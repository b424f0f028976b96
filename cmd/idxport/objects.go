package main

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// Objects of object storage stand beside files: inputs are read through source.Files, outputs are made seen beside those of the publisher. A URL is a name without
// parameters everywhere behind take.

// fileScheme begins URLs of files of this machine, which are paths from the command line on.
const fileScheme = "file://"

// take is takeURL for the store of the run.
func (o *inputOptions) take(arg string) (string, error) {
	if o.objects == nil {
		o.objects = new(object.Store)
	}
	return takeURL(o.objects, arg)
}

// takeURL reads the URL in an argument, if there is one: its parameters go to the store, and a file becomes a path.
func takeURL(store *object.Store, arg string) (string, error) {
	name, err := store.ParseArg(arg)
	before, path, ok := strings.Cut(name, fileScheme)
	if ok && (before == "" || strings.HasSuffix(before, "=") && !strings.Contains(before, "/")) {
		name = before + localPath(path, runtime.GOOS)
	}
	return name, err
}

// localPath returns the path in a file's URL. On Windows the slash before a drive is no part of it: file:///C:/x names C:/x.
func localPath(path, goos string) string {
	drive, slash := strings.CutPrefix(path, "/")
	if goos == "windows" && slash && len(drive) > 2 && drive[1] == ':' && (drive[2] == '/' || drive[2] == '\\') {
		return drive
	}
	return path
}

// takeAll is take for several arguments.
func (o *inputOptions) takeAll(args []string) ([]string, error) {
	names := make([]string, len(args))
	for i, arg := range args {
		name, err := o.take(arg)
		if err != nil {
			return nil, err
		}
		names[i] = name
	}
	return names, nil
}

// anyObject tells whether an input is an object.
func (o *inputOptions) anyObject() bool {
	return object.IsURL(o.classes) || slices.ContainsFunc(o.inputs, func(in dataset.Input) bool { return object.IsURL(in.Path) })
}

// files is where inputs are. The context ends requests.
func (o *inputOptions) files(ctx context.Context) source.Files {
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

func (o *inputOptions) everywhere(ctx context.Context, etags map[string]string) everywhere {
	return everywhere{ctx, o.objects, o.opened, etags}
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

// checkObjects refuses what cannot be done with objects yet.
func (o *convertOptions) checkObjects(jobs []*job) error {
	if o.ifChanged && o.anyObject() {
		return usagef("--if-changed: inputs of object storage cannot be told to be the same").WithHint("leave out --if-changed")
	}
	for _, out := range allOutputs(jobs) {
		switch {
		case !object.IsURL(out.path):
		case o.ifChanged:
			return usagef("--if-changed: %s cannot be marked with what it was made of", out.path).WithHint("leave out --if-changed, or add --overwrite")
		case o.verify:
			return usagef("--verify: %s cannot be read before it is there", out.path).WithHint("compare it afterwards: idxport verify %s INPUT", shell.Path(out.path))
		case slices.ContainsFunc(jobs, func(j *job) bool { return j.reads(out.path) }):
			return fault.New(fault.Refused, "refused: is an input").In(out.path)
		}
	}
	return nil
}

// reads tells whether path is a file of the job.
func (j *job) reads(path string) bool {
	for _, f := range j.split.Files {
		if f.Path == path {
			return true
		}
	}
	return false
}

// checkFolder refuses folders of files as objects, but for those that a plan divides.
func (o output) checkFolder(url string, planning bool) error {
	if !object.IsURL(url) || !o.folder() || planning && o.division != nil && o.division.mark == publish.PartsMark {
		return nil
	}
	if o.division == nil {
		return usagef("%s: %s outputs are folders of files, which cannot be published in object storage in one step", url, o.format.Name).
			WithHint("write tar or Parquet, or a local folder")
	}
	return usagef("%s: outputs of several files cannot be published in object storage in one step", url).
		WithHint("write one file for each split, a local folder, or the parts of a plan: idxport plan")
}

// An outputSet is the outputs of a run: files and folders by the publisher, and objects. All are complete before one is seen.
type outputSet struct {
	*publish.Set
	objects []*object.Writer
	staged  *object.PendingUpload // if it is not nil, the only object is staged and not published, and this becomes its upload
}

// prepareAll begins all outputs: those of this machine first, whose mistakes cost no request.
func prepareAll(ctx context.Context, jobs []*job, o *convertOptions) (*outputSet, error) {
	local, err := prepare(jobs, o)
	if err != nil {
		return nil, err
	}
	s := &outputSet{Set: local, staged: o.staged}
	for _, out := range allOutputs(jobs) {
		if !object.IsURL(out.path) {
			continue
		}
		if out.object, err = o.objects.Create(ctx, out.path, o.overwrite); err != nil {
			s.Discard()
			return nil, err
		}
		s.objects = append(s.objects, out.object)
	}
	return s, nil
}

// sent waits until an object is whole in its storage, unseen: its buffers are free for the next pass.
func (o output) sent() error {
	if o.object == nil {
		return nil
	}
	return o.object.Complete()
}

// Complete waits until all outputs are whole where they will be, but unseen.
func (s *outputSet) Complete() error {
	for _, w := range s.objects {
		if err := w.Complete(); err != nil {
			return err
		}
	}
	return s.Set.Complete()
}

// Commit completes all outputs and then makes them seen: objects first, as the network fails more often than a rename.
func (s *outputSet) Commit() error {
	if len(s.objects) == 0 {
		return s.Set.Commit()
	}
	if err := s.Complete(); err != nil {
		return err
	}
	for _, w := range s.objects {
		if err := s.publish(w); err != nil {
			return err
		}
	}
	return s.Set.Commit()
}

// publish makes an object visible, or stages it for another run to do so.
func (s *outputSet) publish(w *object.Writer) (err error) {
	if s.staged == nil {
		return w.Commit()
	}
	*s.staged, err = w.Stage()
	return err
}

// Discard removes what was not published.
func (s *outputSet) Discard() {
	for _, w := range s.objects {
		w.Discard()
	}
	s.Set.Discard()
}
