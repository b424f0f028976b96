package images

import (
	"fmt"
	"math"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// AdviceOther is the way out for what PNG cannot hold.
const AdviceOther = "convert to Parquet, Arrow or CSV instead, or to npy"

// Unsupported is the error of the sink for format about what makes no PNG files.
func Unsupported(format, advice, message string, args ...any) error {
	return fault.New(fault.Usage, "%s: %s", format, fmt.Sprintf(message, args...)).WithHint("%s", advice)
}

// Columns are those of a table of images, by their indices in the schema.
type Columns struct {
	Image int
	Label int   // −1: none
	Rest  []int // the others, in order
}

// Find chooses the image column and the label column of s; see the package comment. format names the sink in errors.
func Find(format string, s *schema.Schema) (Columns, error) {
	var images []int
	for i, c := range s.Columns {
		if len(c.Shape) >= 2 {
			images = append(images, i)
		}
	}
	if len(images) == 0 {
		return Columns{}, noImages(format, s)
	}
	if len(images) > 1 {
		return Columns{}, Unsupported(format, "name the file of one of them, with its labels",
			"found %d columns of images, %s, expected one", len(images), Names(s, images))
	}
	found := Columns{Image: images[0], Label: s.Label()}
	for i := range s.Columns {
		if i != found.Image && i != found.Label {
			found.Rest = append(found.Rest, i)
		}
	}
	return found, nil
}

// Names lists columns of s by name, quoted.
func Names(s *schema.Schema, indices []int) string {
	quoted := make([]string, len(indices))
	for i, column := range indices {
		quoted[i] = fmt.Sprintf("%q", s.Columns[column].Name)
	}
	return strings.Join(quoted, ", ")
}

// noImages is the error for a table none of whose records have two dimensions.
func noImages(format string, s *schema.Schema) error {
	for _, c := range s.Columns {
		if c.Scalar() {
			continue
		}
		return flat(PNG(format, ""), c)
	}
	return Unsupported(format, "name a file of images", "no column has images, expected records of two or three dimensions")
}

// squareSide is the side of a square of as many elements as records of c have, or 0 if there is none.
func squareSide(c source.Column) int {
	side := int(math.Round(math.Sqrt(float64(c.Elements()))))
	if side*side != c.Elements() {
		return 0
	}
	return side
}
