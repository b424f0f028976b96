package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/card"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/sink/parts"
	"github.com/idxport/idxport/sink/publish"
)

// write makes the outputs of one pass of the job j.
func (o *conversion) write(ctx context.Context, j *job, p *pass, outputs []*output) error {
	var sinks []sink.Sink
	for _, out := range outputs {
		s, err := o.openSink(out)
		if err != nil {
			return fmt.Errorf("%s: %w", out.name(), err)
		}
		sinks = append(sinks, s)
	}
	read, end := o.report.progress(j.label(), p.schema.Rows)
	stats, err := pipeline.Run(ctx, p.table, p.schema, sinks, pipeline.Options{Workers: o.Workers, Progress: read})
	end()
	if err != nil {
		return err
	}
	for _, out := range outputs {
		out.rows = stats.Rows
		if err := out.to.sent(); err != nil { // its buffers are free for the next pass
			return err
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

// openSink makes the sink of one output.
func (o *conversion) openSink(out *output) (sink.Sink, error) {
	to, folder, err := out.to.open(out)
	if err != nil {
		return nil, err
	}
	out.folder = folder
	switch {
	case out.sharding != nil:
		out.parts, err = o.openParts(out)
		return out.parts, err
	case folder != nil:
		return out.format.Open(formats.Output{Folder: folder}, out.pass.schema, out.options)
	}
	if o.Checksum {
		out.hash = sha256.New()
		to = io.MultiWriter(to, out.hash)
	}
	out.stream = &counter{w: to}
	return out.format.Open(formats.Output{Writer: out.stream}, out.pass.schema, out.options)
}

// openParts makes the sink of an output that is many files.
func (o *conversion) openParts(out *output) (*parts.Sink, error) {
	class, err := out.folder.Class(out.sharding.class)
	if err != nil {
		return nil, err
	}
	perFile := *out.pass.schema // of a file, as far as that is known: it decides on row groups
	if o.RowsPerFile > 0 && (perFile.Rows < 0 || perFile.Rows > o.RowsPerFile) {
		perFile.Rows = o.RowsPerFile
	}
	options := parts.Options{Stem: out.sharding.stem, Extension: out.sharding.extension, Rows: o.RowsPerFile, Size: o.FileSize,
		First: out.pass.first, Checksum: o.Checksum}
	return parts.New(class, out.pass.schema, options, func(to io.Writer) (sink.Sink, error) {
		return out.format.Open(formats.Output{Writer: to}, &perFile, out.options)
	})
}

// describe is what a report says of an output that was published.
func (out *output) describe(checksum bool) Output {
	o := Output{Path: out.path, Format: out.format.Name, Split: out.job.split.Name, Rows: out.rows}
	if out.parts == nil {
		o.Load = out.format.LoadLine(out.path, out.pass.schema, out.options)
	} else {
		o.Load = out.format.LoadPartsLine(out.path, out.pass.schema, out.options)
	}
	switch {
	case out.parts != nil:
		out.describeParts(&o)
	case out.folder != nil:
		files, bytes := out.folder.Totals()
		o.Files, o.Bytes = &files, bytes
		if checksum {
			sum := sha256.Sum256(out.folder.Sealed())
			o.SHA256 = hex.EncodeToString(sum[:])
		}
	default:
		o.Bytes = out.stream.n
		if out.hash != nil {
			o.SHA256 = hex.EncodeToString(out.hash.Sum(nil))
		}
	}
	return o
}

// describeParts puts the files of an output that is many into o.
func (out *output) describeParts(o *Output) {
	dir := filepath.Join(out.path, out.sharding.class)
	for _, p := range out.parts.Parts() {
		o.Parts = append(o.Parts, Part{Path: filepath.Join(dir, p.Name), Rows: p.Rows, Bytes: p.Bytes, SHA256: p.SHA256})
		o.Bytes += p.Bytes
	}
	files := int64(len(o.Parts))
	o.Files = &files
	switch {
	case !out.shared():
		o.Shown = out.path + string(filepath.Separator)
	case files == 1:
		o.Shown = o.Parts[0].Path
	default:
		o.Shown = filepath.Join(dir, out.sharding.stem+"-*")
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
		if features, err := card.Merge(c.Features, out.pass.schema); err == nil { // checkHubs has seen to it
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
