package convert

import (
	"context"

	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// inputs are a request and what was found for it.
type inputs struct {
	request *request
	set     *input.Set
}

// reportTable reports what was found while reading t. Notes become warnings if the inputs are IDX
// files, whose notes tell of damage, and with --salvage.
func (in *inputs) reportTable(t source.Table) {
	about := source.About(t)
	if in.set.IDX() || in.request.Salvage {
		about.Notes, about.Warnings = nil, append(about.Notes, about.Warnings...)
	}
	in.request.report.addInfo(about)
}

// drain reads a table to its end, passes its rows to sinks, and returns their number. title is the
// name of the table in progress messages.
func drain(ctx context.Context, r *request, t source.Table, s *schema.Schema, title string, sinks ...sink.Sink) (
	int64, error) {
	update, end := r.report.progress(title, s.Rows)
	defer end()
	return pipeline.Run(ctx, t, s, sinks, pipeline.Options{Workers: r.Workers, Progress: update})
}
