package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
)

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
	rows, err := o.drain(ctx, p.table, p.schema, j.label(), sinks...)
	if err != nil {
		return err
	}
	for _, out := range outputs {
		out.rows = rows
		if err := out.to.finish(); err != nil { // its buffers are free for the next pass
			return err
		}
	}
	o.tableNotes(p.table)
	for _, s := range sinks {
		if n, ok := s.(interface{ Notes() []string }); ok {
			for _, note := range n.Notes() {
				o.report.Note("%s", note)
			}
		}
	}
	return nil
}

// openSink returns the sink of one output.
func (o *conversion) openSink(out *output) (_ sink.Sink, err error) {
	var to io.Writer
	if to, out.folder, err = out.to.open(out); err != nil {
		return nil, err
	}
	switch {
	case out.sharding != nil:
		out.parts, err = o.openParts(out)
		return out.parts, err
	case out.folder != nil:
		return out.format.Open(formats.Output{Folder: out.folder}, out.pass.schema, out.options)
	}
	out.stream = &tally{Writer: to}
	if o.Checksum {
		out.stream.hash = sha256.New()
	}
	return out.format.Open(formats.Output{Writer: out.stream}, out.pass.schema, out.options)
}

// openParts returns the sink of a sharded output.
func (o *conversion) openParts(out *output) (*parts.Sink, error) {
	class, err := out.folder.Class(out.sharding.class)
	if err != nil {
		return nil, err
	}
	perFile := *out.pass.schema
	if o.RowsPerFile > 0 && (perFile.Rows < 0 || perFile.Rows > o.RowsPerFile) {
		perFile.Rows = o.RowsPerFile // row groups depend on it
	}
	options := parts.Options{Stem: out.sharding.stem, Extension: out.sharding.extension, Rows: o.RowsPerFile, Size: o.FileSize,
		First: out.pass.first, Checksum: o.Checksum}
	return parts.New(class, out.pass.schema, options, func(to io.Writer) (sink.Sink, error) {
		return out.format.Open(formats.Output{Writer: to}, &perFile, out.options)
	})
}

// describe returns the entry of a published output in the report.
func (o *output) describe(checksum bool) Output {
	d := Output{Path: o.path, Format: o.format.Name, Split: o.job.split.Name, Rows: o.rows, Load: o.format.LoadLine(o.path, o.pass.schema, o.options)}
	switch {
	case o.parts != nil:
		o.describeParts(&d)
	case o.folder != nil:
		files, bytes := o.folder.Totals()
		d.Files, d.Bytes = &files, bytes
		if checksum {
			sum := sha256.Sum256(o.folder.Sealed())
			d.SHA256 = hex.EncodeToString(sum[:])
		}
	default:
		d.Bytes = o.stream.n
		if o.stream.hash != nil {
			d.SHA256 = hex.EncodeToString(o.stream.hash.Sum(nil))
		}
	}
	return d
}

// describeParts completes the entry of a sharded output.
func (o *output) describeParts(d *Output) {
	dir := filepath.Join(o.path, o.sharding.class)
	for _, p := range o.parts.Parts() {
		d.Parts = append(d.Parts, Part{Path: filepath.Join(dir, p.Name), Rows: p.Rows, Bytes: p.Bytes, SHA256: p.SHA256})
		d.Bytes += p.Bytes
	}
	files := int64(len(d.Parts))
	d.Files, d.Load = &files, o.format.LoadPartsLine(o.path, o.pass.schema, o.options)
	switch {
	case !o.shared():
		d.Shown = o.path + string(filepath.Separator)
	case files == 1:
		d.Shown = d.Parts[0].Path
	default:
		d.Shown = filepath.Join(dir, o.sharding.stem+"-*")
	}
}

// writeCards writes the cards of the folders that have one.
func writeCards(outputs []*output) {
	cards := map[*publish.Folder]*card.Card{}
	for _, out := range outputs {
		if !out.shared() {
			continue
		}
		c := cards[out.folder]
		if c == nil {
			c = &card.Card{Name: filepath.Base(out.path), Version: Version}
			if d := out.job.split.Dataset; d != nil {
				c.Name, c.Homepage, c.License = d.Title, d.Homepage, d.License
			}
			cards[out.folder] = c
		}
		if features, err := card.Merge(c.Features, out.pass.schema); err == nil { // else checkHubs has returned the error
			c.Features = features
		}
		split := card.Split{Name: out.sharding.stem, Rows: out.rows}
		for _, p := range out.parts.Parts() {
			split.Files, split.Bytes = split.Files+1, split.Bytes+p.Bytes
		}
		c.Splits = append(c.Splits, split)
		for _, f := range out.job.split.Files {
			c.Sources = append(c.Sources, filepath.Base(f.Path))
		}
	}
	for folder, c := range cards {
		folder.SetCard(c.Text())
	}
}
