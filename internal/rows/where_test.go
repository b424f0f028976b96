package rows

import (
	"strings"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// TestNameOfTwoLabels: a name selects the rows of all labels that have it.
func TestNameOfTwoLabels(t *testing.T) {
	t.Parallel()
	file := strings.NewReader("\x00\x00\x08\x01\x00\x00\x00\x04\x00\x01\x02\x02") // the labels 0, 1, 2, 2
	table := must.Get(source.NewIDX(file, "x", source.Options{Name: "label", Classes: []string{"a", "b", "a"}}))(t)
	choice := must.Get(Parse(Options{Where: []string{"class=a"}}))(t)
	all := must.Get(choice.Select(t.Context(), Split{Table: table}))(t)
	if n := all[0].Rows.Len(); n != 3 {
		t.Errorf("found %d rows, expected 3", n)
	}
}
