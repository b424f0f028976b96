package png

import "testing"

func TestColorOf(t *testing.T) {
	t.Parallel()
	want := map[int]Color{1: Gray, 3: RGB, 4: RGBA}
	for samples := -1; samples < 6; samples++ {
		expected, exists := want[samples]
		if got, ok := ColorOf(samples); got != expected || ok != exists {
			t.Errorf("%d samples: found %v, %v, expected %v, %v", samples, got, ok, expected, exists)
		}
	}
}

func TestFirstNegative(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		samples []byte
		want    int
	}{
		"none":             {nil, -1},
		"0 and the most":   {[]byte{0, 0, 0xff, 0x7f}, -1},
		"the least":        {[]byte{0, 0x80}, 0},
		"minus one, third": {[]byte{0xff, 0, 0xfe, 0x7f, 0xff, 0xff, 0, 0x80}, 2},
	} {
		if got := FirstNegative(test.samples); got != test.want {
			t.Errorf("%s: found %d, expected %d", name, got, test.want)
		}
	}
}
