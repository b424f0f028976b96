package main

import (
	"bytes"
	"context"
	"image"
	"io"
	"maps"
	"math"
	"os"
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

func runPreview(ctx context.Context, r *report) (err error) {
	s, out := r.settings, r.stdout
	r.dataOnStdout = len(s.Outputs) == 0
	if r.dataOnStdout && s.Overwrite {
		return usagef("--overwrite is for sheets, but there is no -o")
	}
	screen, heading := newScreen(out), "%s\n"
	draw := func(t *convert.Table) (image.Image, int64, error) {
		k, err := newPicker(t, r, screen)
		if err == nil {
			err = k.pick(ctx)
		}
		if err != nil || len(k.picked) == 0 {
			return nil, 0, err
		}
		pictures := k.pictures()
		if k.onSheet {
			page, size := sheet.Draw(pictures, maxShown)
			if page == nil {
				return nil, 0, usagef("the sheet of %s would have %d×%d pixels", t.Title, size.X, size.Y).
					WithHint("%s", showLess)
			}
			return page, int64(len(pictures)), nil
		}
		if s.Images == 0 {
			pictures = pictures[:min(len(pictures), screen.Fit(pictures))] // captions may be wider than images
		}
		if !t.Alone {
			if err := show(out, heading, t.Name); err != nil {
				return nil, 0, err
			}
			heading = "\n%s\n"
		}
		return nil, int64(len(pictures)), screen.Print(out, pictures)
	}
	r.Report, err = convert.Preview(ctx, s.Source, s.View, s.Target, draw)
	r.wroteAll("image")
	return err
}

// newScreen returns how out shows pictures. It uses no colours if out is not a terminal, if
// NO_COLOR is set (https://no-color.org), or if TERM is dumb.
func newScreen(out io.Writer) sheet.Terminal {
	colors := terminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width <= 0 || width > 10_000 {
		width = columns(out)
	}
	return sheet.Terminal{Width: width, Colors: colors}
}

const (
	usualTotal    = 100 // images on a sheet without classes
	usualPerClass = 10
	usualClasses  = 10        // the least number of classes that share the usual bytes
	usualBytes    = 32 << 20  // of records that are shown without --images
	maxShown      = 256 << 20 // bytes of records in memory, and of a sheet
	sheetColumns  = 10        // images in a line of a sheet without classes
	pickRows      = 256       // are read at once: few, since the first ones are often enough

	// imageOverhead is the approximate number of bytes that an image takes besides its record.
	imageOverhead = 256

	showLess = "show less: a smaller --images, such as 1"
)

// A picker takes the first images of a table, or of each of its classes, and draws them.
type picker struct {
	table   *convert.Table
	report  *report
	view    images.Table
	column  source.Column // of the images
	labels  source.Column // of the labels, if there are any
	onSheet bool          // else on a terminal
	classes bool          // limit counts the images of each label, not all images
	known   int           // number of labels that have a class name, 0 if unknown; 1 without classes
	limit   int

	picked map[int64][]pickedImage // by label, without classes all under 0
	full   int                     // number of labels that have limit images
	size   int64                   // bytes of all picked images
}

// A pickedImage is an image that a picker took.
type pickedImage struct {
	row, label int64
	record     []byte // little-endian
}

// newPicker returns a picker of as many images as are asked for or, without --images, as fit a line
// of the screen, or a usual number for sheets, which is lower for large images.
func newPicker(t *convert.Table, r *report, screen sheet.Terminal) (*picker, error) {
	view, err := images.NewView("preview", t.Schema)
	if err != nil {
		return nil, err
	}
	k := &picker{table: t, report: r, view: view, column: t.Schema.Columns[view.Image], onSheet: !r.dataOnStdout,
		known: 1, limit: int(r.settings.Images), picked: map[int64][]pickedImage{}}
	most, fit := usualTotal, usualBytes/k.column.RecordSize()
	if view.Label >= 0 {
		k.labels, k.classes = t.Schema.Columns[view.Label], k.onSheet
	}
	if k.classes {
		k.known = len(slices.DeleteFunc(slices.Clone(k.labels.Classes), func(name string) bool { return name == "" }))
		most, fit = usualPerClass, fit/max(usualClasses, k.known)
	}
	if k.limit == 0 && k.onSheet {
		k.limit = max(1, min(most, fit))
	} else if k.limit == 0 {
		k.limit = screen.Fit([]sheet.Picture{{Image: image.Rect(0, 0, view.Pixels.Width, view.Pixels.Height)}})
	}
	return k, nil
}

// pick reads the table until there are enough images, or to its end.
func (k *picker) pick(ctx context.Context) error {
	update, end := func(int64) {}, func() {} // a few rows take no time
	if k.classes {
		update, end = k.report.progress(k.table.Title, k.table.Schema.Rows)
	}
	defer end()
	b := &source.Raw{}
	for done := int64(0); k.known == 0 || k.full < k.known; {
		b.Cap = min(pickRows, k.table.Schema.BatchRows())
		if !k.classes {
			b.Cap = min(b.Cap, k.limit-len(k.picked[0]))
		}
		err := k.table.Read(ctx, b)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = k.table.Decode(b)
		}
		if err == nil {
			err = k.take(b)
		}
		if err != nil {
			return err
		}
		done += int64(b.Rows)
		update(done)
	}
	return nil
}

// take keeps the wanted rows of b.
func (k *picker) take(b *source.Raw) error {
	size := k.column.RecordSize()
	for i := range b.Rows {
		p, class := pickedImage{row: b.First + int64(i)}, int64(0)
		if k.view.Label >= 0 {
			p.label = source.Int(k.labels.DType, b.Columns[k.view.Label], i)
		}
		if k.classes {
			class = p.label
		}
		if len(k.picked[class]) == k.limit {
			continue
		}
		if k.size += int64(size) + imageOverhead; k.size > maxShown {
			return usagef("the images to show take more than %s", text.Bytes(maxShown)).WithHint("%s", showLess)
		}
		p.record = bytes.Clone(b.Columns[k.view.Image][i*size : (i+1)*size])
		k.picked[class] = append(k.picked[class], p)
		if len(k.picked[class]) == k.limit {
			k.full++
		}
	}
	return nil
}

// pictures returns the images, with captions where they begin a line of a sheet, or everywhere on a
// terminal. The classes are in the order of the labels.
func (k *picker) pictures() (all []sheet.Picture) {
	low, high := k.span()
	for _, class := range slices.Sorted(maps.Keys(k.picked)) {
		for i, p := range k.picked[class] {
			picture := sheet.Picture{Image: k.draw(p.record, low, high)}
			if !k.onSheet || i == 0 || !k.classes && i%sheetColumns == 0 {
				picture.Caption = k.caption(p)
			}
			all = append(all, picture)
		}
	}
	return all
}

// caption returns the label of an image, its row, or both.
func (k *picker) caption(p pickedImage) []string {
	row, label := "row "+strconv.FormatInt(p.row, 10), strconv.FormatInt(p.label, 10)
	name := text.Printable(k.labels.ClassName(p.label))
	// A sheet omits names that it cannot draw. Digits are named after themselves.
	drawn := !k.classes || strings.ContainsFunc(name, func(r rune) bool { return r > ' ' && r <= '~' })
	if drawn && name != "" && name != label {
		label += " " + name
	}
	switch {
	case k.classes:
		return []string{label}
	case k.view.Label >= 0:
		return []string{label, row}
	}
	return []string{row}
}

// span returns the values that are shown as black and as white. Bytes are shown as they are, unless
// they are only 0 and 1, as in masks; for others, they are the least and the greatest value picked.
func (k *picker) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range k.picked {
		for _, p := range list {
			for i := range k.column.Elements() {
				if v := source.Float(k.column.DType, p.record, i); !math.IsNaN(v) && !math.IsInf(v, 0) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	switch isByte := k.column.DType == idx.Uint8; {
	case isByte && high != 1:
		return 0, 255
	case low > high:
		k.table.Report.Note("%s: no value is finite: infinity is shown as white, all else as black", k.table.Name)
		return 0, 0
	case isByte:
		low = 0
	}
	k.table.Report.Note("%s: the values %s to %s are shown as black to white", k.table.Name, numberText(low),
		numberText(high))
	return low, high
}

// draw returns the image of a record.
func (k *picker) draw(record []byte, low, high float64) image.RGBA64Image {
	from := k.view.Pixels
	area, channels := image.Rect(0, 0, from.Width, from.Height), from.Channels
	pixels, size := area.Dx()*area.Dy(), map[int]int{1: 1, 3: 4, 4: 4}[channels] // bytes of a pixel drawn
	samples := bytes.Repeat([]byte{0xff}, pixels*size)                           // opaque
	for i := range pixels * channels {
		pixel, channel := i/channels, i%channels
		if from.Planes {
			pixel, channel = i%pixels, i/pixels
		}
		samples[pixel*size+channel] = shade(source.Float(k.column.DType, record, i), low, high)
	}
	if channels == 1 {
		return &image.Gray{Pix: samples, Stride: area.Dx(), Rect: area}
	}
	return &image.NRGBA{Pix: samples, Stride: 4 * area.Dx(), Rect: area}
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
