package source

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
)

// TestTexts: numbers are numbers, names are places in a list; numbers at other places are neither.
func TestTexts(t *testing.T) {
	t.Parallel()
	digits, turned := strings.Fields("0 1 2 3 4 5 6 7 8 9 A B"), []string{"A", "1", "0"}
	for name, c := range map[string]struct {
		texts, classes []string
		want           []int64
		refused        string
	}{
		"numbers":                       {[]string{"3", "-1"}, nil, []int64{3, -1}, ""},
		"numbers as pandas writes them": {[]string{"8.0", "256.0"}, nil, []int64{8, 256}, ""},
		"numbers at their places":       {[]string{"0", "255"}, digits, []int64{0, 255}, ""},
		"digits and letters":            {[]string{" 3", "B "}, digits, []int64{3, 11}, ""},
		"numbers at other places":       {[]string{"1", "0"}, turned, nil, `found "0", which may be a label`},
		"a late number":                 {[]string{"1", "1", "2"}, []string{"2", "1"}, nil, `found "2", which`},
		"a late number in another form": {[]string{"1", "1", "02"}, []string{"02", "1"}, nil, `found "02", which`},
		"a late text":                   {[]string{"1", "1", "x"}, nil, nil, `found the text "x"`},
		"a late large number":           {[]string{"1", "1", "256"}, nil, nil, "of type uint8"},
		"a late negative number":        {[]string{"1", "1", "-1"}, nil, nil, "of type uint8"},
		"letters after digits":          {[]string{"1", "2", "B"}, digits, []int64{1, 2, 11}, ""},
		"digits beside letters":         {[]string{"A", "0"}, turned, []int64{0, 2}, ""},
		"lists":                         {[]string{"[0, 255]", "70 80"}, nil, nil, "found lists of numbers as texts"},
		"numbers with leading zeros":    {[]string{"05", "1.5"}, nil, nil, "leading zeros, fractions"},
		"a name of two labels":          {[]string{"B", "A"}, []string{"A", "B", "A"}, nil, `"A" is the name of`},
		"an empty name in the list":     {[]string{"A", ""}, []string{"A", ""}, nil, `found the name ""`},
		"truth values beside a list":    {[]string{" True", "FALSE", "false"}, digits, []int64{1, 0, 0}, ""},
		"truth values of a list":        {[]string{"True", "False"}, []string{"True", "False"}, []int64{0, 1}, ""},
		"truth values unlike a list":    {[]string{"true", "true"}, []string{"True"}, nil, "found names"},
		"one truth value":               {[]string{"maybe", "true"}, nil, nil, "found names"},
		"names in the form of macOS":    {[]string{"e\u0301", "\u00e9"}, []string{"A", "e\u0301"}, []int64{1, 1}, ""},
		"an empty name":                 {[]string{"cat", ""}, nil, nil, "found an empty text among names"},
	} {
		form, bad := NewTexts(c.texts[:2], ReadOptions{Classes: c.classes})
		for i := 0; c.refused != "" && bad == nil && i < len(c.texts); i++ {
			bad = form.Put(make([]byte, 4), c.texts[i])
		}
		if c.refused != "" {
			if bad == nil || !strings.Contains(bad.Error(), c.refused) || fault.HintOf(bad) == "" {
				t.Errorf("%s: found %v, expected %q with a hint", name, bad, c.refused)
			}
			continue
		}
		if bad != nil {
			t.Fatalf("%s: found %v", name, bad)
		}
		wide := slices.Min(c.want) < 0 || slices.Max(c.want) > math.MaxUint8
		for i, text := range c.texts {
			b, d := make([]byte, idx.Int32.Size()), form.DType
			if bad, n := form.Put(b, text), Int(d, b, 0); bad != nil || n != c.want[i] || wide != (d == idx.Int32) {
				t.Errorf("%s: %q: found %d of the type %v, %v, expected %d", name, text, n, d, bad, c.want[i])
			}
		}
	}
	if form, bad := NewTexts([]string{"7"}, ReadOptions{DType: idx.Int16}); bad != nil || form.DType != idx.Int16 {
		t.Errorf("with int16: found %v, %v", form, bad)
	}
}
