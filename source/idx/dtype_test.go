package idx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// TestDTypes compares all codes with the description of the format.
func TestDTypes(t *testing.T) {
	t.Parallel()
	known := map[DType]string{0x08: "uint8 ubyte 1 false", 0x09: "int8 byte 1 false", 0x0B: "int16 short 2 false",
		0x0C: "int32 int 4 false", 0x0D: "float32 float 4 true", 0x0E: "float64 double 8 true"}
	for code := range 1 << 8 {
		d, want := DType(code), cmp.Or(known[DType(code)], fmt.Sprintf("dtype 0x%02X  0 false", code))
		if found := fmt.Sprint(d, " ", d.Suffix(), " ", d.Size(), " ", d.Float()); found != want ||
			d.Valid() != (known[d] != "") {
			t.Errorf("found %q, %v, expected %q", found, d.Valid(), want)
		}
	}
	if all := DTypes(); !slices.Equal(all, slices.Sorted(maps.Keys(known))) {
		t.Errorf("found %v, expected the types in the order of their codes", all)
	}
}
