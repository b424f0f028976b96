package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/parts"
)

// An output is one file, folder, object or stream that a run writes.
type output struct {
	job         *job
	pass        *pass
	format      formats.Format
	path        string
	options     formats.Options
	makeParents bool // the folders above path are created
	upright     bool // it is an IDX file whose images are known to be upright
	destination destination
	// sharding is nil if the output is one file, or its format is a folder by itself.
	sharding    *sharding
	upToDateKey string // with IfChanged: a hash over everything that its bytes depend on

	// Set while it is written.
	counted *tally          // of a file, an object or standard output
	folder  *publish.Folder // of a folder
	parts   *parts.Sink     // of a sharded folder
	rows    int64
}

// A sharding describes how an output is spread over the files of a folder, the output's path.
type sharding struct {
	kind      publish.Kind
	subfolder string // the subfolder that holds the files, or empty
	stem      string // the beginning of their names
	extension string
	card      *card.Card // of a folder of several splits
}

func (out *output) isFolder() bool { return out.format.Folder || out.sharding != nil }

// shared reports whether the output's folder holds several splits.
func (out *output) shared() bool { return out.sharding != nil && out.sharding.kind == publish.Hub }

// key returns a string that is equal for two outputs if they are at the same place.
func (out *output) key() string {
	if out.shared() {
		return filepath.Join(out.path, out.sharding.subfolder, out.sharding.stem)
	}
	return filepath.Clean(out.path)
}

// name returns the name of the output for messages.
func (out *output) name() string {
	if out.path == Stdio {
		return "standard output"
	}
	return out.path
}

// outputsOf returns the outputs that are written in a pass.
func outputsOf(outputs []*output, p *pass) []*output {
	return slices.DeleteFunc(slices.Clone(outputs), func(out *output) bool { return out.pass != p })
}

// A tally counts the bytes written through it, and hashes them if hash is not nil.
type tally struct {
	io.Writer
	n    int64
	hash hash.Hash
}

func (t *tally) Write(p []byte) (int, error) {
	n, err := t.Writer.Write(p)
	t.n += int64(n)
	if t.hash != nil {
		t.hash.Write(p[:n])
	}
	return n, err
}

// A destination is where an output goes: a local file or folder, an object, or standard output.
type destination interface {
	// check returns an error if the options of the run are impossible there.
	check(o *conversion, out *output) error
	// join adds the output to those of a run, before anything is written.
	join(out *output, s *destinations)
	// open returns the writer of a file, or the folder to fill.
	open(out *output) (io.Writer, *publish.Folder, error)
}

func newDestination(path string, o *conversion) destination {
	switch {
	case path == Stdio:
		return &stream{o.Stdout}
	case object.IsURL(path):
		return &remote{url: path}
	}
	return &local{path: path}
}

// A local destination is a file or a folder.
type local struct {
	path string
	set  *destinations // nil until join
	i    int           // index of its target in the set
}

func (d *local) check(*conversion, *output) error { return nil }

// storageFolder returns the folder whose file system stores the output; ok is false if the output
// needs no space, because it is a device, for example.
func (d *local) storageFolder() (folder string, ok bool) {
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
	t := publish.Target{Path: out.path, Folder: out.isFolder(), MakeParents: out.makeParents, Key: out.upToDateKey}
	if out.sharding != nil {
		t.Kind = out.sharding.kind
	}
	d.set, d.i = s, slices.Index(s.targets, t)
	if d.i < 0 || !out.shared() {
		d.i = len(s.targets)
		s.targets = append(s.targets, t)
	}
}

func (d *local) open(out *output) (io.Writer, *publish.Folder, error) {
	if out.isFolder() {
		return nil, d.set.Folder(d.i), nil
	}
	return d.set.File(d.i), nil, nil
}

// A remote destination is an object.
type remote struct {
	url string
	*object.Writer
}

func (d *remote) check(o *conversion, out *output) error {
	switch {
	case out.isFolder() && out.sharding == nil:
		return usagef("%s: %s outputs are folders of files, which cannot be published in object storage in one step", d.url, out.format.Name).
			WithHint("write tar or Parquet, or a local folder")
	case out.isFolder():
		return usagef("%s: outputs of several files cannot be published in object storage in one step", d.url).
			WithHint("write one file for each split, or a local folder")
	case o.IfChanged:
		return usagef("--if-changed: an object cannot be marked as up to date: %s", d.url).WithHint("use --overwrite instead of --if-changed")
	case o.Verify && !out.format.WriteOnly: // checkVerify refuses write-only formats, whatever the destination
		return usagef("--verify: an object cannot be read before it is published: %s", d.url).WithHint("compare it afterwards: idxport verify %s INPUT", shell.Path(d.url))
	}
	return nil
}

func (d *remote) join(_ *output, s *destinations) { s.remotes = append(s.remotes, d) }

func (d *remote) open(*output) (io.Writer, *publish.Folder, error) { return d.Writer, nil, nil }

// A stream is standard output.
type stream struct{ io.Writer }

func (d *stream) check(o *conversion, out *output) error {
	switch {
	case out.sharding != nil:
		return usagef("standard output cannot be many files").WithHint("name a folder, or leave out --rows-per-file")
	case o.IfChanged:
		return usagef("--if-changed: standard output is never up to date").WithHint("leave out --if-changed, or name a file")
	case o.Verify:
		return usagef("--verify: standard output cannot be read again").WithHint("write a file, or leave out --verify")
	}
	return nil
}

func (d *stream) join(*output, *destinations) {}

func (d *stream) open(out *output) (io.Writer, *publish.Folder, error) {
	if f, ok := d.Writer.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !out.format.Text {
		return nil, nil, usagef("will not write %s to a terminal", out.format.Name).WithHint("redirect standard output to a file or a program")
	}
	return d.Writer, nil, checkOpen(d.Writer)
}

// checkOpen returns an error if w is standard output and was closed when the program began. Go's
// runtime has then opened the null device there for reading and writing; a shell's >/dev/null opens
// it for writing only. Python's subprocess.DEVNULL cannot be told from a closed output, so call
// checkOpen only where losing the data would be an error.
func checkOpen(w io.Writer) error {
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
		WithHint("redirect standard output to a file")
}

// destinations are where the outputs of a run go. All of them are complete before any of
// them is visible.
type destinations struct {
	*publish.Set
	targets []publish.Target
	remotes []*remote
}

// begin prepares the destinations of all outputs, the local ones first: their errors cost no
// request.
func begin(ctx context.Context, outputs []*output, inputs []string, o *conversion) (s *destinations, err error) {
	s = &destinations{}
	for _, out := range outputs {
		out.destination.join(out, s)
	}
	if s.Set, err = publish.Prepare(s.targets, publish.Options{Overwrite: o.Overwrite, Inputs: inputs}); err != nil {
		return nil, adviseShared(err, outputs)
	}
	for _, d := range s.remotes {
		if slices.Contains(inputs, d.url) {
			err = fault.New(fault.Refused, "refused: it is an input").In(d.url)
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

// adviseShared returns err, with another hint if it says that the folder of several splits exists.
func adviseShared(err error, outputs []*output) error {
	var e *fault.Error
	if errors.As(err, &e) && e.Kind == fault.Exists && slices.ContainsFunc(outputs, func(out *output) bool { return out.shared() && out.path == e.Path }) {
		return e.WithHint("--overwrite replaces the whole folder, including splits that this run does not write")
	}
	return err
}

// Commit completes all outputs and makes them visible: objects first, as requests fail more often
// than renames.
func (s *destinations) Commit() error {
	if err := s.Complete(); err != nil { // of local outputs only: writePass has completed the objects
		return err
	}
	for _, d := range s.remotes {
		if err := d.Writer.Commit(); err != nil {
			return err
		}
	}
	return s.Set.Commit()
}

// Discard removes what Commit has not made visible.
func (s *destinations) Discard() {
	for _, d := range s.remotes {
		if d.Writer != nil {
			d.Writer.Discard()
		}
	}
	s.Set.Discard()
}

// writePass writes the outputs of one pass of the job j.
func (o *conversion) writePass(ctx context.Context, j *job, p *pass, outputs []*output) error {
	var sinks []sink.Sink
	for _, out := range outputs {
		s, err := o.openSink(out)
		if err != nil {
			return fmt.Errorf("%s: %w", out.name(), err)
		}
		sinks = append(sinks, s)
	}
	rows, err := o.drain(ctx, p.table, p.schema, j.title(), sinks...)
	if err != nil {
		return err
	}
	for _, out := range outputs {
		out.rows = rows
		if to, ok := out.destination.(*remote); ok { // its buffers are then free for the next pass
			if err := to.Complete(); err != nil {
				return err
			}
		}
	}
	o.tableNotes(p.table)
	for _, s := range sinks {
		if n, ok := s.(sink.Noter); ok {
			for _, note := range n.Notes() {
				o.report.Note("%s", note)
			}
		}
	}
	return nil
}

func (o *conversion) openSink(out *output) (_ sink.Sink, err error) {
	var to io.Writer
	if to, out.folder, err = out.destination.open(out); err != nil {
		return nil, err
	}
	switch {
	case out.sharding != nil:
		out.parts, err = o.openParts(out)
		return out.parts, err
	case out.folder != nil:
		return out.format.Open(formats.Output{Folder: out.folder}, out.pass.schema, out.options)
	}
	out.counted = &tally{Writer: to}
	if o.Checksum {
		out.counted.hash = sha256.New()
	}
	return out.format.Open(formats.Output{Writer: out.counted}, out.pass.schema, out.options)
}

// openParts returns the sink of a sharded output.
func (o *conversion) openParts(out *output) (*parts.Sink, error) {
	subfolder, err := out.folder.Subfolder(out.sharding.subfolder)
	if err != nil {
		return nil, err
	}
	perFile := *out.pass.schema
	if o.sharded() && (perFile.Rows < 0 || perFile.Rows > o.RowsPerFile) {
		perFile.Rows = o.RowsPerFile // row groups depend on it
	}
	options := parts.Options{Stem: out.sharding.stem, Extension: out.sharding.extension, Rows: o.RowsPerFile,
		First: out.pass.first, Checksum: o.Checksum}
	return parts.New(subfolder, out.pass.schema, options, func(to io.Writer) (sink.Sink, error) {
		return out.format.Open(formats.Output{Writer: to}, &perFile, out.options)
	})
}

// describe returns the entry of a published output in the report.
func (out *output) describe(checksum bool) Output {
	d := Output{Path: out.path, Format: out.format.Name, Split: out.job.split.Name, Rows: out.rows, Load: out.format.LoadLine(out.path, out.pass.schema, out.options)}
	switch {
	case out.parts != nil:
		out.describeParts(&d)
	case out.folder != nil:
		files, bytes := out.folder.Totals()
		d.Files, d.Bytes = &files, bytes
		if checksum {
			d.SHA256 = out.folder.Checksum()
		}
	default:
		d.Bytes = out.counted.n
		if out.counted.hash != nil {
			d.SHA256 = hex.EncodeToString(out.counted.hash.Sum(nil))
		}
	}
	return d
}

// describeParts completes the entry of a sharded output.
func (out *output) describeParts(d *Output) {
	dir := filepath.Join(out.path, out.sharding.subfolder)
	for _, p := range out.parts.Parts() {
		d.Parts = append(d.Parts, Part{Path: filepath.Join(dir, p.Name), Rows: p.Rows, Bytes: p.Bytes, SHA256: p.SHA256})
		d.Bytes += p.Bytes
	}
	files := int64(len(d.Parts))
	d.Files, d.Load = &files, out.format.LoadPartsLine(out.path, out.pass.schema, out.options)
	switch {
	case !out.shared():
		d.Shown = out.path + string(filepath.Separator)
	case files == 1:
		d.Shown = d.Parts[0].Path
	default:
		d.Shown = filepath.Join(dir, out.sharding.stem+"-*")
	}
}

// setCards sets the text of the card of each folder that has one, with the splits as they were
// written.
func setCards(outputs []*output) {
	for _, out := range outputs {
		if !out.shared() {
			continue
		}
		split := card.Split{Name: out.sharding.stem, Rows: out.rows}
		for _, p := range out.parts.Parts() {
			split.Files, split.Bytes = split.Files+1, split.Bytes+p.Bytes
		}
		c := out.sharding.card
		c.Splits = append(c.Splits, split)
		out.folder.SetCard(c.Text()) // the last one has all splits
	}
}
