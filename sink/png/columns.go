package png

import (
	"fmt"
	"math"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// format names this sink in errors and notes.
const format = "png"

// adviceOther is the way out for what PNG cannot hold.
const adviceOther = "convert to Parquet, Arrow or CSV instead"

// unsupported is the error for what makes no PNG files.
func unsupported(advice, message string, args ...any) error {
	return &sink.Error{Format: format, Message: fmt.Sprintf(message, args...), Advice: advice, Err: sink.ErrUnsupported}
}

// columns are the two that a folder of images has a place for.
type columns struct {
	image   int
	label   int    // −1: none
	leftOut string // a note about the others, or empty
}

// findColumns chooses the image column and the label column of s; see the package comment.
func findColumns(s *schema.Schema) (columns, error) {
	var images, integers []int
	label := -1
	for i, c := range s.Columns {
		switch {
		case len(c.Shape) >= 2:
			images = append(images, i)
		case c.Scalar() && c.Integer():
			integers = append(integers, i)
			if c.Name == "label" {
				label = i
			}
		}
	}
	if label < 0 && len(integers) == 1 {
		label = integers[0]
	}
	if len(images) == 0 {
		return columns{}, noImages(s)
	}
	if len(images) > 1 {
		return columns{}, unsupported("name the file of one of them, with its labels",
			"found %d columns of images, %s, expected one", len(images), names(s, images))
	}
	found := columns{image: images[0], label: label}
	var rest []int
	for i := range s.Columns {
		if i != found.image && i != found.label {
			rest = append(rest, i)
		}
	}
	if len(rest) > 0 {
		found.leftOut = fmt.Sprintf("%s: left out %s: a folder holds the images and one label; Parquet, Arrow and CSV hold all columns",
			format, names(s, rest))
	}
	return found, nil
}

// Labelled tells whether the images of a table of the schema s go into class folders.
func Labelled(s *schema.Schema) bool {
	found, err := findColumns(s)
	return err == nil && found.label >= 0
}

// names lists columns of s by name.
func names(s *schema.Schema, indices []int) string {
	quoted := make([]string, len(indices))
	for i, column := range indices {
		quoted[i] = fmt.Sprintf("%q", s.Columns[column].Name)
	}
	return strings.Join(quoted, ", ")
}

// noImages is the error for a table none of whose records have two dimensions.
func noImages(s *schema.Schema) error {
	for _, c := range s.Columns {
		if c.Scalar() {
			continue
		}
		advice := adviceOther
		if side := squareSide(c); side > 0 {
			advice = fmt.Sprintf("if they are square images: --reshape -1x%dx%d", side, side)
		}
		return unsupported(advice, "column %q has records of one dimension, of %d elements, expected two or three", c.Name, c.Elements())
	}
	return unsupported("name a file of images", "no column has images, expected records of two or three dimensions")
}

// squareSide is the side of a square of as many elements as records of c have, or 0 if there is none.
func squareSide(c source.Column) int {
	side := int(math.Round(math.Sqrt(float64(c.Elements()))))
	if side*side != c.Elements() {
		return 0
	}
	return side
}
