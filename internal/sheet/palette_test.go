package sheet

import (
	"image/color"
	"slices"
	"testing"
)

// TestPaletteIndex compares with the palette of xterm: the chosen colour is always near.
func TestPaletteIndex(t *testing.T) {
	t.Parallel()
	cube := [...]int{0, 95, 135, 175, 215, 255}
	distance := func(a, b int) int { return max(a-b, b-a) }
	for v := range 256 {
		gray := 0
		switch i := paletteIndex(color.RGBA{byte(v), byte(v), byte(v), 255}); {
		case i >= 232:
			gray = 8 + 10*(i-232)
		default:
			gray = cube[(i-16)/36]
		}
		if distance(gray, v) > 9 || v > 3 && v < 244 && distance(gray, v) > 5 {
			t.Errorf("grey %d: found %d", v, gray)
		}
		nearest := slices.MinFunc(cube[:], func(a, b int) int { return distance(a, v) - distance(b, v) })
		red := cube[(paletteIndex(color.RGBA{byte(v), 255, 0, 255})-16)/36]
		if distance(red, v) != distance(nearest, v) {
			t.Errorf("red %d: found %d, expected %d", v, red, nearest)
		}
	}
}
