package sheet

import (
	"slices"
	"strings"
	"testing"
)

// TestFont checks that every printable ASCII character has its own glyph, and the size of the
// picture.
func TestFont(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSuffix(fontPicture, "\n"), "\n")
	if len(lines) != 6*glyphHeight {
		t.Fatalf("found %d lines, expected %d", len(lines), 6*glyphHeight)
	}
	for i, line := range lines {
		if len(line) != glyphsInRow*glyphStep-1 || strings.Trim(line, "#. ") != "" {
			t.Errorf("line %d: found %q", i, line)
		}
	}
	seen := map[string]rune{}
	for r := rune(firstGlyph); r <= lastGlyph; r++ {
		glyph := ""
		for y := range glyphHeight {
			for x := range glyphWidth {
				glyph += map[bool]string{true: "#", false: "."}[inked(r, x, y)]
			}
		}
		if strings.Contains(glyph, "#") == (r == ' ') {
			t.Errorf("%q: found %s", r, glyph)
		}
		if other, twice := seen[glyph]; twice {
			t.Errorf("%q looks like %q", r, other)
		}
		seen[glyph] = r
	}
}

// TestPaletteIndex compares with the palette of xterm: the chosen colour is always near.
func TestPaletteIndex(t *testing.T) {
	t.Parallel()
	cube := [...]int{0, 95, 135, 175, 215, 255}
	distance := func(a, b int) int { return max(a-b, b-a) }
	for v := range 256 {
		gray := 0
		switch i := paletteIndex([3]byte{byte(v), byte(v), byte(v)}); {
		case i >= 232:
			gray = 8 + 10*(i-232)
		default:
			gray = cube[(i-16)/36]
		}
		if distance(gray, v) > 9 || v > 3 && v < 244 && distance(gray, v) > 5 {
			t.Errorf("grey %d: found %d", v, gray)
		}
		nearest := slices.MinFunc(cube[:], func(a, b int) int { return distance(a, v) - distance(b, v) })
		red := cube[(paletteIndex([3]byte{byte(v), 255, 0})-16)/36]
		if distance(red, v) != distance(nearest, v) {
			t.Errorf("red %d: found %d, expected %d", v, red, nearest)
		}
	}
}
