package images

import (
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source/idx"
)

// A View says how a table is looked at: which columns are the images and the labels, and how a record is an image. The rules are those for PNG
// files, but any data type will do, as who shows images can scale their values.
type View struct {
	Columns
	Height, Width int
	Channels      int  // 1, 3 or 4
	Planes        bool // the record has one plane for each channel
}

// NewView decides how the table of s is viewed; channels is as in [Rules]. format names the viewer in errors.
func NewView(format string, s *schema.Schema, channels string) (View, error) {
	found, err := Find(format, s)
	if err != nil {
		return View{}, err
	}
	c := s.Columns[found.Image]
	c.DType = idx.Uint8 // which has no rules of its own
	m, err := New(PNG(format, channels), c)
	if err != nil {
		return View{}, err
	}
	return View{Columns: found, Height: m.Height, Width: m.Width, Channels: m.Channels, Planes: m.planes}, nil
}
