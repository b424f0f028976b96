package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sheet"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
)

// pickRows is the most rows that are read at once: few, as the first ones are often enough.
const pickRows = 256

// shotSize is about the number of bytes that an image takes beside its record: maps, slices, a tile and a heading.
const shotSize = 256

// A shot is one image that was picked.
type shot struct {
	row, label int64
	record     []byte // as in batches: little-endian
}

// A picker takes the first images of a table, or of each of its classes, in the order of the rows.
type picker struct {
	view    images.View
	column  source.Column // of the images
	labels  source.Column // of the labels, if there are any
	classes bool          // most images of each label are taken; otherwise most in all
	most    int
	known   int // number of labels that have a name; 0: not known

	shots map[int64][]shot // by label, or all under 0
	full  int              // number of labels that have most
	size  int64            // bytes of all records, and of what is kept with them
}

func newPicker(s *schema.Schema, view images.View, classes bool) *picker {
	k := &picker{view: view, column: s.Columns[view.Image], classes: classes, shots: map[int64][]shot{}}
	if view.Label >= 0 {
		k.labels = s.Columns[view.Label]
		for v := range k.labels.Classes {
			if k.labels.ClassName(int64(v)) != "" {
				k.known++
			}
		}
	}
	return k
}

// usual is how many images a sheet has where nobody says it; fewer if they are large.
func (k *picker) usual() int {
	fit := usualBytes / k.column.RecordSize()
	if k.classes {
		return max(1, min(usualPerClass, fit/max(usualColumns, k.known)))
	}
	return max(1, min(usualInAll, fit))
}

// pick reads t until the picker has enough, or to the end.
func (k *picker) pick(ctx context.Context, t *convert.Table, r *report) error {
	read, end := (func(int64))(nil), func() {} // a few rows take no time
	if k.classes {
		read, end = r.progress(t.Label(), t.Schema.Rows)
	}
	_, err := convert.Interruptible(ctx, func() (struct{}, error) {
		return struct{}{}, k.read(ctx, t, min(pickRows, t.Schema.BatchRows()), read)
	})
	end()
	if err != nil {
		return err
	}
	t.Notes()
	if len(k.shots) == 0 { // a stream did not say so before
		return noRows(t)
	}
	return nil
}

// read takes what it wants of t.
func (k *picker) read(ctx context.Context, t source.Table, rows int, progress func(int64)) error {
	b := &source.Raw{}
	for done := int64(0); !k.enough(); {
		b.Cap = rows
		if !k.classes {
			b.Cap = min(rows, k.most-len(k.shots[0]))
		}
		err := t.Read(ctx, b)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = t.Decode(b)
		}
		if err == nil {
			err = k.take(b)
		}
		if err != nil {
			return err
		}
		if done += int64(b.Rows); progress != nil {
			progress(done)
		}
	}
	return nil
}

// enough tells whether no other row can be wanted.
func (k *picker) enough() bool {
	if k.classes {
		return k.known > 0 && k.full == k.known
	}
	return len(k.shots[0]) == k.most
}

// take takes what it wants of b.
func (k *picker) take(b *source.Raw) error {
	size := k.column.RecordSize()
	for i := range b.Rows {
		s, key := shot{row: b.First + int64(i)}, int64(0)
		if k.view.Label >= 0 {
			s.label = source.Int(k.labels.DType, b.Columns[k.view.Label], i)
		}
		if k.classes {
			key = s.label
		}
		if len(k.shots[key]) == k.most {
			continue
		}
		if k.size += int64(size) + shotSize; k.size > maxShown {
			return usagef("the images to show take more than %s", display.Bytes(maxShown)).WithHint("show less: %s", showLess)
		}
		s.record = slices.Clone(b.Columns[k.view.Image][i*size : (i+1)*size])
		k.shots[key] = append(k.shots[key], s)
		if len(k.shots[key]) == k.most {
			k.full++
		}
	}
	return nil
}

// groups are the lines of a sheet: classes in the order of their labels, or rows.
func (k *picker) groups(t *convert.Table) (groups []sheet.Group) {
	tile := k.tiles(t)
	if !k.classes {
		shots := k.shots[0]
		for line := range slices.Chunk(shots, usualColumns) {
			groups = append(groups, sheet.Group{Heading: "row " + strconv.FormatInt(line[0].row, 10), Tiles: mapped(line, tile)})
		}
		return groups
	}
	for _, label := range slices.Sorted(maps.Keys(k.shots)) {
		groups = append(groups, sheet.Group{Heading: labelText(k.labels, label, true), Tiles: mapped(k.shots[label], tile)})
	}
	k.noteMissing(t)
	return groups
}

// noteMissing tells of classes that have no image.
func (k *picker) noteMissing(t *convert.Table) {
	var missing []string
	for v := range k.labels.Classes {
		if label := int64(v); k.labels.ClassName(label) != "" && k.shots[label] == nil {
			missing = append(missing, labelText(k.labels, label, false))
		}
	}
	if len(missing) > 0 {
		t.Note("%s: no images of %s", t.Name, strings.Join(missing, ", "))
	}
}

// pictures are the images with captions for a terminal.
func (k *picker) pictures(t *convert.Table) []sheet.Picture {
	tile := k.tiles(t)
	return mapped(k.shots[0], func(s shot) sheet.Picture {
		caption := "row " + strconv.FormatInt(s.row, 10)
		if k.view.Label >= 0 {
			caption = labelText(k.labels, s.label, false)
		}
		return sheet.Picture{Tile: tile(s), Caption: caption}
	})
}

// mapped is f of every element.
func mapped[T, U any](list []T, f func(T) U) []U {
	made := make([]U, 0, len(list))
	for _, v := range list {
		made = append(made, f(v))
	}
	return made
}
