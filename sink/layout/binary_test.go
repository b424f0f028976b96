package layout

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestBinary compares with values of the Parquet specification's "Encodings": a BYTE_ARRAY in PLAIN pages is a length in 4 bytes, little-endian, and
// the bytes.
func TestBinary(t *testing.T) {
	t.Parallel()
	column := one(t, "binary", source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}})
	data := []byte("abcdefghijkl")
	leaf := column.Leaves[0]
	if found := leaf.Values(data, 2); string(found) != "\x06\x00\x00\x00abcdef\x06\x00\x00\x00ghijkl" {
		t.Errorf("found % x, expected each record after its length, 6", found)
	}
	if column.Elements[0].Type.V != format.ByteArray || leaf.Type != format.ByteArray || leaf.Size != 10 || !leaf.Made {
		t.Errorf("found %v, a leaf of %v and %d bytes, expected BYTE_ARRAY of 10", column.Elements[0].Type.V, leaf.Type, leaf.Size)
	}
	made := column.Data(data, 2)
	records := array.MakeFromData(made).(*array.Binary)
	for i, want := range []string{"abcdef", "ghijkl"} {
		if found := string(records.Value(i)); found != want || records.IsNull(i) {
			t.Errorf("record %d: found %q, expected %q", i, found, want)
		}
	}
	if b := made.Buffers()[2].Bytes(); &b[0] != &data[0] {
		t.Error("the bytes of Arrow are not the batch's")
	}
}

func TestBinaryOfNoElements(t *testing.T) {
	t.Parallel()
	column := one(t, "binary", source.Column{Name: "x", DType: idx.Float64, Shape: []int{0, 2}})
	if found := column.Leaves[0].Values(nil, 2); !bytes.Equal(found, make([]byte, 8)) {
		t.Errorf("found % x, expected two lengths of 0", found)
	}
}
