package source

import (
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
)

// TestTexts: numbers are numbers, and names have the places of a list. Numbers that a list has at
// other places are neither.
func TestTexts(t *testing.T) {
	t.Parallel()
	digits, turned := strings.Fields("0 1 2 3 4 5 6 7 8 9 A B"), []string{"A", "1", "0"}
	for name, c := range map[string]struct {
		texts, classes []string
		want           []int64
		refused        string
	}{
		"numbers":                       {[]string{"3", "-1"}, nil, []int64{3, -1}, ""},
		"numbers as pandas writes them": {[]string{"8.0", "10.0"}, nil, []int64{8, 10}, ""},
		"numbers at their places":       {[]string{"3", "36"}, digits, []int64{3, 36}, ""},
		"digits and letters":            {[]string{"3", "B"}, digits, []int64{3, 11}, ""},
		"numbers at other places":       {[]string{"1", "0"}, turned, nil, `found "0", which may be a label`},
		"a late number":                 {[]string{"1", "1", "2"}, []string{"2", "1"}, nil, `found "2", which`},
		"a late number in another form": {[]string{"1", "1", "02"}, []string{"02", "1"}, nil, `found "02", which`},
		"letters after digits":          {[]string{"1", "2", "B"}, digits, []int64{1, 2, 11}, ""},
		"digits beside letters":         {[]string{"A", "0"}, turned, []int64{0, 2}, ""},
		"lists":                         {[]string{"[0, 255]", "70 80"}, nil, nil, "found lists of numbers as texts"},
		"numbers with leading zeros":    {[]string{"05", "1.5"}, nil, nil, "leading zeros, fractions"},
		"a name of two labels":          {[]string{"B", "A"}, []string{"A", "B", "A"}, nil, `"A" is the name of`},
		"an empty name":                 {[]string{"cat", ""}, nil, nil, "found an empty text among names"},
	} {
		sample := c.texts
		if strings.HasPrefix(name, "a late number") || name == "letters after digits" {
			sample = c.texts[:2]
		}
		form, bad := NewTexts(sample, ReadOptions{Classes: c.classes})
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
			t.Errorf("%s: found %v", name, bad)
			continue
		}
		for i, text := range c.texts {
			data := make([]byte, idx.Int32.Size())
			if bad := form.Put(data, text); bad != nil || Int(form.DType, data, 0) != c.want[i] {
				t.Errorf("%s: %q: found %d, %v, expected %d", name, text, Int(form.DType, data, 0), bad, c.want[i])
			}
		}
	}
}
