package main

import (
	"context"
	"path/filepath"

	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/summary"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// inspectOther reads a table of another format to its end.
func (p *program) inspectOther(ctx context.Context, o *inputOptions, s dataset.Split, f dataset.File, classes []string, workers int, r *report) (*fileReport, error) {
	report := &fileReport{Path: f.Path, Split: s.Name, Role: f.Role.String(), Compression: "none", FileBytes: -1, Format: o.others[f.Path].Format.Name}
	if info, err := o.files(ctx).Stat(f.Path); err == nil && info.Mode().IsRegular() {
		report.FileBytes = info.Size()
	}
	t, err := o.openOther(ctx, s, f, classes)
	if err != nil {
		return report, err
	}
	defer t.Close() // only read from
	report.ETag, _ = o.opened.of(f.Path)
	sc := schema.Of(t)
	sums := summary.New(sc)
	progress := r.progress(filepath.Base(f.Path), sc.Rows)
	stats, err := pipeline.Run(ctx, t, sc, []sink.Sink{sums}, pipeline.Options{Workers: workers, Progress: progress.rows})
	progress.done()
	if err != nil {
		return report, err
	}
	report.Whole = true
	for i, c := range sc.Columns {
		report.PayloadBytes += stats.Rows * int64(c.RecordSize())
		column := describeColumn(c, sums.Columns()[i])
		column.DType, column.Shape = c.DType.String(), []int64{stats.Rows}
		for _, d := range c.Shape {
			column.Shape = append(column.Shape, int64(d))
		}
		report.Columns = append(report.Columns, column)
	}
	for _, o := range source.Omitted(t) {
		report.Columns = append(report.Columns, columnReport{Name: o.Column, DType: o.Type, Shape: []int64{stats.Rows}, omitted: o.Why})
	}
	for _, n := range source.Notes(t) {
		r.note("%s", n)
	}
	return report, checkNames(sc, sums.Columns(), f.Path)
}
