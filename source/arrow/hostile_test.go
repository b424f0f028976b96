package arrow

import (
	"errors"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/fault"
)

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
