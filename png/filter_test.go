package png

import (
	"bytes"
	"testing"
)

// The expected bytes are worked out by hand from the definitions in PNG §9.2; pixels of 2 bytes.
func TestFilters(t *testing.T) {
	t.Parallel()
	above := []byte{10, 20, 30, 40, 50, 60}
	row := []byte{11, 18, 33, 40, 70, 0}
	want := map[byte][]byte{
		0: {11, 18, 33, 40, 70, 0},
		1: {11, 18, 22, 22, 37, 216}, // less 0 0 11 18 33 40
		2: {1, 254, 3, 0, 20, 196},   // less what is above
		4: {1, 254, 3, 0, 20, 196},   // estimates 10 20, 31 38, 53 60: nearest is above each time
	}
	got := make([]byte, len(row))
	for _, f := range filters {
		f.apply(got, row, above, 2)
		if !bytes.Equal(got, want[f.number]) {
			t.Errorf("filter %d: found %d, expected %d", f.number, got, want[f.number])
		}
	}
}

func TestPaeth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                         string
		left, above, aboveLeft, want int
	}{
		{"all equal", 7, 7, 7, 7},
		{"left nearest", 100, 20, 20, 100},
		{"above nearest", 20, 100, 20, 100},
		{"above left nearest", 0, 100, 40, 40}, // estimate 60: 60, 40, 20 away
		{"estimate is above left itself", 10, 30, 20, 20},
		{"tie of left and above left goes left", 120, 90, 100, 120}, // estimate 110
		{"tie of above and above left goes above", 90, 120, 100, 120},
	} {
		if got := paeth(tt.left, tt.above, tt.aboveLeft); int(got) != tt.want {
			t.Errorf("%s: found %d, expected %d", tt.name, got, tt.want)
		}
	}
}

func TestMagnitude(t *testing.T) {
	t.Parallel()
	if got := magnitude([]byte{0, 1, 255, 127, 128}); got != 1+1+127+128 {
		t.Errorf("found %d, expected 257", got)
	}
}
