package source

import (
	"errors"
	"testing"

	"github.com/idxport/idxport/fault"
)

// TestSkipOfSlices passes over rows of a part of a table: before the first row was read, after it, and more than there are.
func TestSkipOfSlices(t *testing.T) {
	t.Parallel()
	for _, read := range []int{0, 2} {
		inner, want := pairs(t, "image", 10)
		part, err := Slice(inner, 2, 9)
		if err != nil {
			t.Fatal(err)
		}
		if read > 0 {
			b := &Raw{Cap: read}
			if err := part.Read(t.Context(), b); err != nil || b.First != 2 || b.Rows != read {
				t.Fatalf("found rows from %d on, %d of them, and %v", b.First, b.Rows, err)
			}
		}
		for _, n := range []int64{-1, int64(8 - read)} {
			if err := Skip(part, n); !errors.Is(err, fault.Usage) {
				t.Errorf("%d of %d rows: found %v, expected %v", n, 7-read, err, fault.Usage)
			}
		}
		if err := Skip(part, 3); err != nil {
			t.Fatal(err)
		}
		check(t, part, 2, int64(5+read), want[4*(5+read):4*9])
	}
	part, err := Slice(plain{Table: scalars(t, "label", 3)}, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := part.Read(t.Context(), &Raw{Cap: 1}); err != nil {
		t.Fatal(err)
	}
	if err := part.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Skip(part, 2); err == nil {
		t.Error("rows of a closed table were passed over")
	}
}
