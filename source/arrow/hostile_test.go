package arrow

import (
	"errors"
	"math"
	"testing"

	"github.com/idxport/idxport/schema"
)

// FuzzMetadata reads what others may have written about columns: nothing but shapes of IDX comes out of it, of the right number of elements where
// that is asked.
func FuzzMetadata(f *testing.F) {
	f.Add(`{"info":{"features":{"label":{"names":["a","b"],"_type":"ClassLabel"}}}}`, `[2,3]`, `{"shape":[2,3]}`, int64(6))
	f.Add(`{"info":{"features":{"label":{"names":[1],"_type":"ClassLabel"},"x":null}}}`, `[4294967296,4294967296]`, `{"shape":[2,3],"permutation":[1,0]}`, int64(6))
	f.Add(`[[[[`, `null`, `{"shape":[-1,0,1e99]}`, int64(0))
	f.Fuzz(func(t *testing.T, hub, shape, extension string, n int64) {
		for column, names := range features(map[string]string{"huggingface": hub}) {
			if len(names) == 0 {
				t.Errorf("column %q has no names", column)
			}
		}
		column := &field{name: "x", metadata: map[string]string{schema.KeyShape: shape, extensionMetadataKey: extension}}
		if found, ok := metadataShape(column); ok {
			demandShape(t, found, -1)
		}
		if found, ok := shapeOf(column, n); ok {
			demandShape(t, found, n)
		}
		found, err := extensionShape(column, n)
		if err == nil {
			demandShape(t, found, n)
		} else if !errors.Is(err, ErrUnsupported) {
			t.Errorf("found %v", err)
		}
	})
}

// demandShape demands dimensions of IDX, with n elements unless that is −1.
func demandShape(t *testing.T, shape []int, n int64) {
	t.Helper()
	elements := 1.0 // beyond 64 bits it is far from any n
	for _, d := range shape {
		if d < 0 || int64(d) > math.MaxUint32 {
			t.Errorf("found the shape %v", shape)
		}
		elements *= float64(d)
	}
	if n >= 0 && math.Abs(elements-float64(n)) > 1e-9*elements {
		t.Errorf("found the shape %v for %d elements", shape, n)
	}
}
