package png

import "testing"

func TestGaps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		labels []int64
		want   string
	}{
		"no label":         {nil, ""},
		"all":              {[]int64{2, 0, 1}, ""},
		"the last missing": {[]int64{0, 1}, ""}, // no reader numbers a class differently
		"one missing":      {[]int64{0, 2}, "1"},
		"several":          {[]int64{5, 1, 3}, "0, 2, 4"},
		"from 1 on":        {[]int64{1, 2}, "0"},
		"very many":        {[]int64{1 << 30}, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and others"},
	} {
		if got := gaps(test.labels); got != test.want {
			t.Errorf("%s: found %q, expected %q", name, got, test.want)
		}
	}
}
