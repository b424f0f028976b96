package convert

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/sink"
)

// A destination is what an output is written to: a file or folder, an object, or standard output.
type destination struct {
	out    *output
	writer *sink.Appender  // nil for a folder
	folder *publish.Folder // to fill, or nil
	object *object.Writer  // or nil; Complete sends the rest and frees its memory, commit makes it visible
	hidden string          // the path at which it can be read before commit; "" if it cannot
}

// checkStandardOutput returns an error if w is a terminal, one of others, or may have been closed
// when the program began: Go's runtime has then opened the null device there for reading and
// writing, as Python's subprocess.DEVNULL does. A shell's >/dev/null opens it for writing only.
func checkStandardOutput(w io.Writer, f sinks.Format, others []string) error {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if term.IsTerminal(int(file.Fd())) && !f.Text {
		return usagef("will not write %s to a terminal", f.Name).WithHint("redirect it to a file or a program")
	}
	out, _ := file.Stat() // nil after an error: the same as none
	for _, path := range others {
		if other, err := os.Stat(path); err == nil && os.SameFile(other, out) {
			return fault.New(fault.Refused, "refused: it is also %s", path).WithHint("redirect it to another file")
		}
	}
	null, _ := os.Stat(os.DevNull)
	reads := func() bool { _, err := file.Read(make([]byte, 1)); return err == io.EOF }
	if runtime.GOOS == "windows" || !os.SameFile(out, null) || !reads() { // a shell's >/dev/null discards on purpose
		return nil
	}
	return fault.New(fault.IO, "it is closed, or the null device for reading, too; expected a file or a program").
		Because(syscall.EBADF).WithHint("redirect standard output to a file, or to %s for writing only", os.DevNull)
}

// A publication is the outputs of a run: all of them are complete before any of them is visible.
type publication struct {
	set *publish.Set
	to  []destination // of each output, in their order
}

// prepare makes the destinations of all outputs, the local ones first: their errors are found
// without a request over the network. No output may replace an input. key is that of [runKey].
func prepare(ctx context.Context, r *request, outputs []*output, inputs []string, key string) (
	_ *publication, err error) {
	p := &publication{}
	var targets []publish.Target   // splits that share a folder have one
	others := slices.Clone(inputs) // and the local outputs
	for _, out := range outputs {
		if out.path == Stdio || text.IsURL(out.path) {
			continue
		}
		t := publish.Target{Path: out.path, Folder: out.isFolder(), Kind: out.kind, Key: out.keyOf(key)}
		others = append(others, out.path)
		if !out.shared() || !slices.Contains(targets, t) {
			targets = append(targets, t) // Prepare refuses two at one path
		}
	}
	if p.set, err = publish.Prepare(targets, publish.Options{Overwrite: r.replaces(), Inputs: inputs}); err != nil {
		return nil, err
	}
	for _, out := range outputs {
		to := destination{out: out}
		i := slices.IndexFunc(targets, func(t publish.Target) bool { return t.Path == out.path }) // −1: not local
		switch {
		case out.path == Stdio:
			to.writer = &sink.Appender{Writer: r.Stdout}
			err = fault.In(out.shownName(), checkStandardOutput(r.Stdout, out.format, others))
		case text.IsURL(out.path) && slices.Contains(inputs, out.path):
			err = fault.New(fault.Refused, "refused: it is an input").In(out.path)
		case text.IsURL(out.path):
			to.object, err = r.input.Storage.Store.Create(ctx, out.path, r.replaces())
			to.writer = &sink.Appender{Writer: to.object}
		case out.isFolder():
			to.folder, to.hidden = p.set.Folder(i), p.set.Partial(i)
		default:
			to.writer, to.hidden = &sink.Appender{Writer: p.set.File(i)}, p.set.Partial(i)
		}
		if err != nil {
			p.discard()
			return nil, err
		}
		p.to = append(p.to, to)
	}
	return p, nil
}

// commit makes all complete outputs visible: objects first, as a network fails more than renames.
func (p *publication) commit() error {
	for _, to := range p.to {
		if to.object != nil {
			if err := to.object.Commit(); err != nil {
				return err
			}
		}
	}
	return p.set.Commit()
}

// discard removes what commit has not made visible.
func (p *publication) discard() {
	for _, to := range p.to {
		if to.object != nil {
			to.object.Discard()
		}
	}
	p.set.Discard()
}
