package main

import (
	"context"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// pickRows limits the rows that are read at once: few, since the first ones are often enough.
const pickRows = 256

// imageOverhead is the approximate number of bytes that an image takes besides its record: maps,
// slices, a tile and a heading.
const imageOverhead = 256

// A pickedImage is an image that a picker took from a table.
type pickedImage struct {
	row, label int64
	record     []byte // little-endian
}

// A picker takes the first images of a table, or of each of its classes, in the order of the rows.
type picker struct {
	view    images.View
	column  source.Column // of the images
	labels  source.Column // of the labels, if there are any
	classes bool          // limit counts the images of each label, not all images
	limit   int
	known   int // number of labels that have a class name; 0 if unknown

	picked map[int64][]pickedImage // by label, or all under 0
	full   int                     // number of labels that have limit images
	size   int64                   // bytes of all picked images
}

// newPicker returns a picker for the images of a table. If perClass is set and there are labels, it
// picks images of each class.
func newPicker(t *convert.Table, perClass bool) (*picker, error) {
	view, err := images.NewView("preview", t.Schema)
	if err != nil {
		return nil, err
	}
	k := &picker{view: view, column: t.Schema.Columns[view.Image], picked: map[int64][]pickedImage{}}
	if view.Label >= 0 {
		k.classes, k.labels = perClass, t.Schema.Columns[view.Label]
		for v := range k.labels.Classes {
			if k.labels.ClassName(int64(v)) != "" {
				k.known++
			}
		}
	}
	return k, nil
}

// defaultLimit returns the number of images on a sheet without --images or, if there are classes,
// of each class. It is lower for large images.
func (k *picker) defaultLimit() int {
	fit := defaultBytes / k.column.RecordSize()
	if k.classes {
		return max(1, min(defaultPerClass, fit/max(sheetColumns, k.known)))
	}
	return max(1, min(defaultTotal, fit))
}

// pick reads t until the picker has enough images, or to the end.
func (k *picker) pick(ctx context.Context, t *convert.Table, r *report) error {
	update, end := (func(int64))(nil), func() {} // a few rows take no time
	if k.classes {
		update, end = r.progress(t.Title(), t.Schema.Rows)
	}
	err := k.read(ctx, t, min(pickRows, t.Schema.BatchRows()), update)
	end()
	if err != nil {
		return err
	}
	t.ReportNotes()
	if len(k.picked) == 0 { // a stream shows only at its end that it has no rows
		return noRows(t)
	}
	return nil
}

// read takes rows of t until there are enough.
func (k *picker) read(ctx context.Context, t source.Table, rows int, update func(int64)) error {
	b := &source.Raw{}
	for done := int64(0); !k.enough(); {
		b.Cap = rows
		if !k.classes {
			b.Cap = min(rows, k.limit-len(k.picked[0]))
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
		if done += int64(b.Rows); update != nil {
			update(done)
		}
	}
	return nil
}

// enough reports whether all wanted rows were found.
func (k *picker) enough() bool {
	if k.classes {
		return k.known > 0 && k.full == k.known
	}
	return len(k.picked[0]) == k.limit
}

// take keeps the wanted rows of b.
func (k *picker) take(b *source.Raw) error {
	size := k.column.RecordSize()
	for i := range b.Rows {
		s, key := pickedImage{row: b.First + int64(i)}, int64(0)
		if k.view.Label >= 0 {
			s.label = source.Int(k.labels.DType, b.Columns[k.view.Label], i)
		}
		if k.classes {
			key = s.label
		}
		if len(k.picked[key]) == k.limit {
			continue
		}
		if k.size += int64(size) + imageOverhead; k.size > maxShown {
			return usagef("the images to show take more than %s", text.Bytes(maxShown)).WithHint("show less: %s", showLess)
		}
		s.record = slices.Clone(b.Columns[k.view.Image][i*size : (i+1)*size])
		k.picked[key] = append(k.picked[key], s)
		if len(k.picked[key]) == k.limit {
			k.full++
		}
	}
	return nil
}

// groups returns the lines of a sheet. With classes, there is one line per class, in the order of
// the labels; without, each line has the next sheetColumns images.
func (k *picker) groups(t *convert.Table) (groups []sheet.Group) {
	tile := k.tiles(t)
	if !k.classes {
		list := k.picked[0]
		for line := range slices.Chunk(list, sheetColumns) {
			groups = append(groups, sheet.Group{Heading: "row " + strconv.FormatInt(line[0].row, 10), Tiles: mapped(line, tile)})
		}
		return groups
	}
	for _, label := range slices.Sorted(maps.Keys(k.picked)) {
		groups = append(groups, sheet.Group{Heading: labelText(k.labels, label, true), Tiles: mapped(k.picked[label], tile)})
	}
	return groups
}

// pictures returns the images with captions, for a terminal.
func (k *picker) pictures(t *convert.Table) []sheet.Picture {
	tile := k.tiles(t)
	return mapped(k.picked[0], func(s pickedImage) sheet.Picture {
		caption := "row " + strconv.FormatInt(s.row, 10)
		if k.view.Label >= 0 {
			caption = clean(labelText(k.labels, s.label, false)) + "\n" + caption
		}
		return sheet.Picture{Tile: tile(s), Caption: caption}
	})
}

// mapped returns f of every element.
func mapped[T, U any](list []T, f func(T) U) []U {
	made := make([]U, 0, len(list))
	for _, v := range list {
		made = append(made, f(v))
	}
	return made
}

// tiles returns a function that draws an image in 8 bits. Bytes are shown unchanged, unless they
// are only 0 and 1, as in masks; other types are scaled from the smallest to the largest picked
// value, which is noted.
func (k *picker) tiles(t *convert.Table) func(pickedImage) sheet.Tile {
	low, high, finite := k.span()
	raw := k.column.DType == idx.Uint8 && high != 1
	switch {
	case raw:
	case !finite:
		t.Note("%s: no value is finite: infinity is shown as white, all else as black", t.Name)
	default:
		if k.column.DType == idx.Uint8 {
			low = 0
		}
		t.Note("%s: the values %s to %s are shown as black to white", t.Name, numberText(low), numberText(high))
	}
	return func(s pickedImage) sheet.Tile {
		t := sheet.Tile{Width: k.view.Width, Height: k.view.Height, Channels: k.view.Channels,
			Pix: make([]byte, k.column.Elements())}
		plane := t.Width * t.Height
		for i := range t.Pix {
			from := i
			if k.view.Planes {
				from = i%t.Channels*plane + i/t.Channels
			}
			if raw {
				t.Pix[i] = s.record[from]
			} else {
				t.Pix[i] = shade(source.Float(k.column.DType, s.record, from), low, high)
			}
		}
		return t
	}
}

// span returns the smallest and the largest finite value of all picked images, if
// there are any.
func (k *picker) span() (low, high float64, finite bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range k.picked {
		for _, s := range list {
			for i := range k.column.Elements() {
				if v := source.Float(k.column.DType, s.record, i); !math.IsNaN(v) && !math.IsInf(v, 0) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if low > high {
		return 0, 0, false
	}
	return low, high, true
}

// shade returns v as a grey between black for low and white for high. NaN is black, and so is
// everything if all values are equal.
func shade(v, low, high float64) byte {
	if math.IsNaN(v) || v <= low {
		return 0
	}
	if v >= high {
		return 255
	}
	// halves, so that the range of doubles does not overflow
	return byte(math.Round(255 * (v/2 - low/2) / (high/2 - low/2)))
}

// labelText returns the text beside images of a label. If plain is set, it omits a name without
// ASCII characters, which sheets cannot draw.
func labelText(c source.Column, label int64, plain bool) string {
	text, name := strconv.FormatInt(label, 10), text.Printable(c.ClassName(label))
	if plain && !strings.ContainsFunc(name, func(r rune) bool { return r > ' ' && r <= '~' }) {
		name = ""
	}
	if name == "" || name == text { // digits are named after themselves
		return text
	}
	return text + " " + name
}

const (
	defaultPerClass = 10
	defaultTotal    = 100
	sheetColumns    = 10
	defaultBytes    = 32 << 20  // of records that are shown without --images
	maxShown        = 256 << 20 // bytes of records in memory, and of a sheet
)

const showLess = "a smaller --images, such as 1, or --scale 1"

func noRows(t *convert.Table) error { return usagef("%s has no rows to show", t.Title()) }
