package png

import "testing"

func TestGaps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		labels []int64
		want   string
	}{
		{nil, ""}, {[]int64{2, 0, 1}, ""}, {[]int64{0, 1}, ""}, // without the last no reader numbers another way
		{[]int64{0, 2}, "1"}, {[]int64{5, 1, 3}, "0, 2, 4"}, {[]int64{1, 2}, "0"},
		{[]int64{1 << 30}, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and others"},
	} {
		if got := gaps(test.labels); got != test.want {
			t.Errorf("%d: found %q, expected %q", test.labels, got, test.want)
		}
	}
}
