package arrow

import (
	"errors"
	"math"
	"slices"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// FuzzMetadata reads what others may have written about columns: nothing but shapes of IDX comes out of it, of the right number of elements where
// that is asked.
func FuzzMetadata(f *testing.F) {
	f.Add(`{"info":{"features":{"label":{"names":["a","b"],"_type":"ClassLabel"}}}}`, `[2,3]`, `{"shape":[2,3]}`, int64(6))
	f.Add(`{"info":{"features":{"label":{"names":[1],"_type":"ClassLabel"},"x":null}}}`, `[4294967296,4294967296]`, `{"shape":[2,3],"permutation":[1,0]}`, int64(6))
	f.Add(`[[[[`, `null`, `{"shape":[-1,0,1e99]}`, int64(0))
	f.Fuzz(func(t *testing.T, hub, shape, extension string, n int64) {
		for column, names := range source.HubClasses(map[string]string{source.HubKey: hub}) {
			if len(names) == 0 || slices.Contains(names, source.NoName) {
				t.Errorf("column %q has the names %q", column, names)
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
		} else if !errors.Is(err, fault.Unsupported) {
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

// Lengths of 2^31 and more are negative where an int has 32 bits.
func TestVectorsOfManyElements(t *testing.T) {
	t.Parallel()
	for _, n := range []byte{0x7f, 0x80, 0xff} {
		// A vtable of one field, at 4; its table at 10; the vector that is the field at 18.
		f := &flatBuffer{bytes: []byte{6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, n, 0, 0}}
		if pos, found := (flatTable{f, 6}).vector(0, 8); !f.bad || found != 0 {
			t.Errorf("length 0x%02x000000: found %d elements at %d, expected none", n, found, pos)
		}
	}
}

// The buffers of all columns of views are buffers of the record batch.
func TestViewsOfManyBuffers(t *testing.T) {
	t.Parallel()
	b := flatbuffers.NewBuilder(0)
	b.StartVector(16, 2, 8)
	for range 4 {
		b.PrependInt64(0)
	}
	buffers := b.EndVector(2)
	b.StartVector(8, 3, 8)
	for range 3 {
		b.PrependInt64(1)
	}
	counts := b.EndVector(3)
	b.StartObject(5)
	b.PrependUOffsetTSlot(2, buffers, 0)
	b.PrependUOffsetTSlot(4, counts, 0)
	b.Finish(b.EndObject())
	if _, err := parseBatch((&flatBuffer{bytes: b.FinishedBytes()}).root(), 0, 0); !errors.Is(err, fault.Malformed) {
		t.Errorf("found %v, expected that 3 columns of views have more than the 2 buffers there are", err)
	}
}
