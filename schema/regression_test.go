package schema

import (
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

func TestTransformsKeepTheSource(t *testing.T) {
	t.Parallel()
	part, err := source.Slice(table(t, "image", file(t, idx.Uint8, []int{5, 1, 2}, values(t, idx.Uint8, 10)), false), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Transpose(part, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s := Of(out); s.Source != 5 || s.Rows != 2 {
		t.Errorf("found %d rows of %d, expected 2 of 5", s.Rows, s.Source)
	}
}
