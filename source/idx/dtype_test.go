package idx

import "testing"

func TestDTypes(t *testing.T) {
	t.Parallel()
	// Codes, sizes and names come from the description of the format.
	tests := []struct {
		code         byte
		size         int
		name, suffix string
		float        bool
	}{
		{0x08, 1, "uint8", "ubyte", false},
		{0x09, 1, "int8", "byte", false},
		{0x0B, 2, "int16", "short", false},
		{0x0C, 4, "int32", "int", false},
		{0x0D, 4, "float32", "float", true},
		{0x0E, 8, "float64", "double", true},
	}
	all := DTypes()
	if len(all) != len(tests) {
		t.Fatalf("found %d types, expected %d", len(all), len(tests))
	}
	for i, test := range tests {
		d := DType(test.code)
		if all[i] != d || !d.Valid() || d.Size() != test.size || d.String() != test.name || d.Suffix() != test.suffix ||
			d.Float() != test.float {
			t.Errorf("type %#x: found %v, %v bytes, %q", test.code, d, d.Size(), d.Suffix())
		}
	}
	for _, code := range []byte{0, 7, 0x0A, 0x0F, 0x80, 0xFF} {
		if d := DType(code); d.Valid() || d.Size() != 0 {
			t.Errorf("type %#x is valid, expected not", code)
		}
	}
	if d := DType(0x0A); d.String() != "dtype 0x0A" || d.Suffix() != "" {
		t.Errorf("found %q and %q, expected the code and nothing", d.String(), d.Suffix())
	}
}
