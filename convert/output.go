package convert

import (
	"context"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
)

// A sharding says how an output is spread over the files of a folder, which is the output's path.
type sharding struct {
	mark      publish.Mark
	class     string // the folder in it that holds the files, or empty
	stem      string // what their names begin with
	extension string
}

// isFolder reports whether the output is a folder.
func (o *output) isFolder() bool { return o.format.Folder || o.sharding != nil }

// shared reports whether the output's folder holds several splits.
func (o *output) shared() bool { return o.sharding != nil && o.sharding.mark == publish.CardMark }

// key is the same for two outputs that would be one.
func (o *output) key() string {
	if o.shared() {
		return filepath.Join(o.path, o.sharding.class, o.sharding.stem)
	}
	return filepath.Clean(o.path)
}

// An output is one file or folder that a run makes.
type output struct {
	job     *job
	pass    *pass
	format  formats.Format
	path    string
	options formats.Options
	parents bool // the folders above path are made
	to      destination
	// sharding is nil for an output that is one file, or whose format is a folder by itself.
	sharding *sharding
	madeKey  string // with IfChanged: a hash over everything that decides on the output

	// What is known of it once it was written.
	stream *counter        // of a file or of standard output
	folder *publish.Folder // of a folder
	parts  *parts.Sink     // of a folder that is sharded
	rows   int64
	hash   hash.Hash // of a stream; nil unless a checksum is wanted
}

// outputsOf are those of outputs that are made in one pass.
func outputsOf(outputs []*output, p *pass) []*output {
	return slices.DeleteFunc(slices.Clone(outputs), func(out *output) bool { return out.pass != p })
}

// A counter counts what is written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// name is how messages call the output.
func (o *output) name() string {
	if o.path == Stdio {
		return "standard output"
	}
	return o.path
}

// A destination is where an output goes: a file or folder of this machine, an object, or standard
// output. newDestination is the only place that asks which.
type destination interface {
	// check refuses options that cannot be carried out there.
	check(o *conversion, out *output) error
	// space is the folder whose file system the output takes space of; false if it takes none.
	space() (folder string, takes bool)
	// join makes the output one of those of a run, before the run begins to write.
	join(out *output, s *destinations)
	// open is where a file is written, or the folder that is filled.
	open(out *output) (io.Writer, *publish.Folder, error)
	// partial is where the output lies until it is visible, or empty where it cannot be read then.
	partial() string
	// sent waits until what was written is whole where it will be, but not visible.
	sent() error
}

func newDestination(path string, o *conversion) destination {
	switch {
	case path == Stdio:
		return &stream{w: o.Stdout}
	case object.IsURL(path):
		return &remote{url: path, options: o}
	}
	return &local{path: path}
}

// A local destination is a file or a folder of this machine.
type local struct {
	path  string
	among *destinations // once the run writes
	index int           // of its target
}

func (d *local) check(*conversion, *output) error { return nil }

func (d *local) space() (string, bool) {
	path := d.path
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "", false
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return filepath.Dir(path), true
}

func (d *local) join(out *output, s *destinations) {
	t := publish.Target{Path: out.path, Folder: out.isFolder(), MakeParents: out.parents, Key: out.madeKey}
	if out.sharding != nil {
		t.Mark = out.sharding.mark
	}
	d.index = slices.Index(s.targets, t)
	if d.index < 0 || !out.shared() {
		d.index = len(s.targets)
		s.targets = append(s.targets, t)
	}
	d.among = s
}

func (d *local) open(out *output) (io.Writer, *publish.Folder, error) {
	if out.isFolder() {
		return nil, d.among.Folder(d.index), nil
	}
	return d.among.File(d.index), nil, nil
}

func (d *local) partial() string { return d.among.Partial(d.index) }

func (d *local) sent() error { return nil }

// A remote destination is an object.
type remote struct {
	url     string
	options *conversion
	*object.Writer
}

func (d *remote) check(o *conversion, out *output) error {
	switch {
	case out.isFolder() && out.sharding == nil:
		return usagef("%s: %s outputs are folders of files, which cannot be published in object storage in one step", d.url, out.format.Name).
			WithHint("write tar or Parquet, or a local folder")
	case out.isFolder() && !(o.planning && out.sharding.mark == publish.PartsMark):
		return usagef("%s: outputs of several files cannot be published in object storage in one step", d.url).
			WithHint("write one file for each split, a local folder, or the parts of a plan: idxport plan")
	case o.IfChanged:
		return usagef("--if-changed: %s cannot be marked with what it was made of", d.url).WithHint("leave out --if-changed, or add --overwrite")
	case o.Verify:
		return usagef("--verify: %s cannot be read before it is there", d.url).WithHint("compare it afterwards: idxport verify %s INPUT", shell.Path(d.url))
	}
	return nil
}

func (d *remote) space() (string, bool) { return "", false }

func (d *remote) join(_ *output, s *destinations) { s.remotes = append(s.remotes, d) }

func (d *remote) open(*output) (io.Writer, *publish.Folder, error) { return d.Writer, nil, nil }

func (d *remote) partial() string { return "" }

func (d *remote) sent() error { return d.Complete() }

// commit makes the object visible, or leaves that to another process.
func (d *remote) commit() (err error) {
	if d.options.pending == nil {
		return d.Commit()
	}
	*d.options.pending, err = d.Stage()
	return err
}

// A stream is standard output.
type stream struct{ w io.Writer }

func (d *stream) check(o *conversion, out *output) error {
	switch {
	case out.sharding != nil:
		return usagef("standard output cannot be many files").WithHint("name a folder, or leave out --rows-per-file and --file-size")
	case o.IfChanged:
		return usagef("--if-changed: standard output is never unchanged").WithHint("leave out --if-changed, or name a file")
	case o.Verify:
		return usagef("--verify: standard output cannot be read again").WithHint("write a file, or leave out --verify")
	}
	return nil
}

func (d *stream) space() (string, bool) { return "", false }

func (d *stream) join(*output, *destinations) {}

func (d *stream) open(out *output) (io.Writer, *publish.Folder, error) {
	if f, ok := d.w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !out.format.Text() {
		return nil, nil, usagef("will not write %s to a terminal", out.format.Name).WithHint("redirect standard output to a file or a program")
	}
	return d.w, nil, CheckOpen(d.w)
}

func (d *stream) partial() string { return "" }

func (d *stream) sent() error { return nil }

// CheckOpen returns an error if w is standard output and was closed when the program began: Go's
// runtime has opened the null device there, for reading too, which a shell's >/dev/null does not.
// Python's subprocess.DEVNULL looks the same, so it is asked only where data would be lost.
func CheckOpen(w io.Writer) error {
	f, ok := w.(*os.File)
	if !ok || runtime.GOOS == "windows" {
		return nil
	}
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	if err != nil || nullErr != nil || !os.SameFile(info, null) {
		return nil
	}
	if _, err = f.Read(make([]byte, 1)); err != io.EOF { // it is not open for reading
		return nil
	}
	return fault.New(fault.IO, "it is closed, expected a file or a program").Because(syscall.EBADF).
		WithHint("redirect standard output; to throw the data away, write -o FORMAT=/dev/null")
}

// destinations are where the outputs of a run go. All are complete before one is visible.
type destinations struct {
	*publish.Set
	targets []publish.Target
	remotes []*remote
}

// begin prepares all outputs: those of this machine first, whose mistakes cost no request.
func begin(ctx context.Context, outputs []*output, inputs []string, o *conversion) (s *destinations, err error) {
	s = &destinations{}
	for _, out := range outputs {
		out.to.join(out, s)
	}
	if s.Set, err = publish.Prepare(s.targets, publish.Options{Overwrite: o.Overwrite, Inputs: inputs}); err != nil {
		return nil, hubExists(err, outputs)
	}
	for _, d := range s.remotes {
		if slices.Contains(inputs, d.url) {
			err = fault.New(fault.Refused, "refused: is an input").In(d.url)
		} else {
			d.Writer, err = o.store.Create(ctx, d.url, o.Overwrite)
		}
		if err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// hubExists is err; where that is a folder of splits that exists, it says what --overwrite does.
func hubExists(err error, outputs []*output) error {
	var exists *fault.Error
	if errors.As(err, &exists) && exists.Kind == fault.Exists && slices.ContainsFunc(outputs, func(out *output) bool { return out.shared() && out.path == exists.Path }) {
		return exists.WithHint("--overwrite replaces the whole folder: splits that this run does not make go, too")
	}
	return err
}

// Complete waits until all outputs are whole where they will be, but not visible.
func (s *destinations) Complete() error {
	for _, d := range s.remotes {
		if err := d.Complete(); err != nil {
			return err
		}
	}
	return s.Set.Complete()
}

// Commit completes all outputs and makes them visible: objects first, as the network fails more
// often than a rename.
func (s *destinations) Commit() error {
	if len(s.remotes) > 0 {
		if err := s.Complete(); err != nil {
			return err
		}
	}
	for _, d := range s.remotes {
		if err := d.commit(); err != nil {
			return err
		}
	}
	return s.Set.Commit()
}

// Discard removes what is not visible.
func (s *destinations) Discard() {
	for _, d := range s.remotes {
		if d.Writer != nil {
			d.Writer.Discard()
		}
	}
	s.Set.Discard()
}
