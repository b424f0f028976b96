package main

import (
	"context"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sheet"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// pickRows is the most rows that are read at once: few, as the first ones are often enough.
const pickRows = 256

// shotSize is about the number of bytes that an image takes beside its record: maps, slices, a tile
// and a heading.
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

// enough reports whether all wanted rows are found.
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

// noteMissing notes the classes that have no image.
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

// tiles decides how the values of what was picked become 8 bits, and returns what does that. Bytes
// are shown as they are, unless they are only 0 and 1, as masks are; other types from the smallest
// to the largest value that is shown, which is noted.
func (k *picker) tiles(t *convert.Table) func(shot) sheet.Tile {
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
	return func(s shot) sheet.Tile {
		t := sheet.Tile{Width: k.view.Width, Height: k.view.Height, Channels: k.view.Channels, Pix: make([]byte, k.column.Elements())}
		plane := t.Width * t.Height
		for i := range t.Pix {
			from := i
			if k.view.Planes {
				from = i%t.Channels*plane + i/t.Channels
			}
			if raw {
				t.Pix[i] = s.record[from]
			} else {
				t.Pix[i] = shade(element(k.column.DType, s.record, from), low, high)
			}
		}
		return t
	}
}

// span is the smallest and the largest finite value that was picked; 0, 0 and false if there is
// none.
func (k *picker) span() (low, high float64, finite bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, shots := range k.shots {
		for _, s := range shots {
			for i := range k.column.Elements() {
				if v := element(k.column.DType, s.record, i); !math.IsNaN(v) && !math.IsInf(v, 0) {
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

// shade is v as a grey between black for low and white for high; NaN is black, and so is everything
// where all values are one.
func shade(v, low, high float64) byte {
	if math.IsNaN(v) || v <= low {
		return 0
	}
	if v >= high {
		return 255
	}
	return byte(math.Round(255 * (v/2 - low/2) / (high/2 - low/2))) // halves: the whole range of doubles has no overflow
}

// element is element i of little-endian data of type d.
func element(d idx.DType, data []byte, i int) float64 {
	switch d {
	case idx.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	case idx.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return float64(source.Int(d, data, i))
}

// labelText is how label is written beside images of its class; plain leaves out a name that has no
// letters of ASCII, as sheets cannot show it.
func labelText(c source.Column, label int64, plain bool) string {
	text, name := strconv.FormatInt(label, 10), display.Printable(c.ClassName(label))
	if plain && !strings.ContainsFunc(name, func(r rune) bool { return r > ' ' && r <= '~' }) {
		name = ""
	}
	if name == "" || name == text { // digits are called after themselves
		return text
	}
	return text + " " + name
}

const (
	usualPerClass = 10
	usualInAll    = 100
	usualColumns  = 10
	usualBytes    = 32 << 20  // of records that are shown where --images does not say how many
	maxShown      = 256 << 20 // bytes: of records that are kept, and of a sheet
)

const showLess = "--images 1, --rows 0:1000 or --scale 1"

func noRows(t *convert.Table) error { return usagef("%s has no rows to show", t.Label()) }
