package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source/idx"
)

// arrowSchemaKey is the key of a file's metadata for the Arrow schema, as Arrow's writers and this program leave it.
const arrowSchemaKey = "ARROW:schema"

// A hint is what the metadata tells of a column beside its Parquet type.
type hint struct {
	dtype idx.DType // 0: nothing
	shape []int     // nil: nothing; empty: a scalar
	found bool      // shape was told

	permuted []int // the order of the dimensions that an extension type tells, if it is not C order

	extension string // Arrow's extension type, or empty
	wide      string // int128, or another type of integers too wide for Parquet, which are bytes there; or empty
}

// hints are those of the columns, by name, that the file's Arrow schema has.
func (f *file) hints() map[string]hint {
	all := map[string]hint{}
	for name, pairs := range arrowFields(f.meta[arrowSchemaKey]) {
		h := hint{dtype: dtypeOf(pairs[schema.KeyDType]), extension: pairs[extensionName], wide: pairs[wideInteger]}
		var shape []int
		var tensor struct{ Shape, Permutation []int }
		switch {
		case json.Unmarshal([]byte(pairs[schema.KeyShape]), &shape) == nil:
			h.shape, h.found = shape, shape != nil
		case pairs[extensionName] == "arrow.fixed_shape_tensor" && json.Unmarshal([]byte(pairs[extensionMetadata]), &tensor) == nil:
			h.shape, h.found = tensor.Shape, tensor.Shape != nil
			if !slices.IsSorted(tensor.Permutation) {
				h.permuted = tensor.Permutation
			}
		}
		if _, ok := product(h.shape); !ok {
			h.shape, h.found = nil, false
		}
		all[name] = h
	}
	return all
}

// mostElements is more elements than a record may have, and so few that their size in bytes fits an int.
const mostElements = min(1<<40, math.MaxInt/8)

// product is the number of elements of a record of shape, unless that is no shape or too many to count.
func product(shape []int) (int, bool) {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > mostElements/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// arrowFields is the metadata of the fields of an Arrow schema, an encapsulated message in base64, by the fields' names. What is damaged tells nothing: the
// schema is a help, which a reader may do without. It is read by hand, as readers of Arrow make room for as much as the message claims.
func arrowFields(encoded string) (all map[string]map[string]string) {
	all = map[string]map[string]string{}
	defer func() { _ = recover() }() // offsets that point outside
	message, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(message) < 12 {
		return all
	}
	if binary.LittleEndian.Uint32(message) == 0xffffffff { // newer than Arrow 0.15
		message = message[4:]
	}
	message = message[4:] // its length
	root := flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}
	header, ok := follow(root, 2)
	if !ok {
		return all
	}
	left := maxArrowPairs
	for field := range tables(header, 1) {
		pairs := map[string]string{wideInteger: wide(field)}
		for pair := range tables(field, 6) {
			switch key := text(pair, 0); key {
			case schema.KeyDType, schema.KeyShape, extensionName, extensionMetadata:
				pairs[key] = text(pair, 1)
			}
			if left--; left == 0 {
				return all
			}
		}
		all[text(field, 0)] = pairs
	}
	return all
}

// Limits of what is read of an Arrow schema: its parts may be used many times over.
const (
	maxArrowPairs = 1 << 17
	maxArrowText  = 4096 // bytes
)

// wideInteger is what arrowFields keeps the type of a field under if that is int128 or the like, beside the metadata.
const wideInteger = "wide integer"

// wide is the type of a Field of Schema.fbs whose integers have more than 64 bits, as polars has them, or empty.
func wide(field flatbuffers.Table) string {
	const typeInt = 2 // of the union Type
	kind, ok := follow(field, 3)
	if at := place(field, 2); !ok || at == 0 || field.GetByte(at+field.Pos) != typeInt {
		return ""
	}
	bits, signed := place(kind, 0), place(kind, 1)
	if bits == 0 || kind.GetInt32(bits+kind.Pos) <= 64 {
		return ""
	}
	return integerName(int(kind.GetInt32(bits+kind.Pos)), signed != 0 && kind.GetBool(signed+kind.Pos))
}

// Keys of the metadata of a field that is of an extension type of Arrow.
const (
	extensionName     = "ARROW:extension:name"
	extensionMetadata = "ARROW:extension:metadata"
)

// place is where field number i of a table is, 0 if it is not there. A virtual table has two lengths before the fields.
func place(t flatbuffers.Table, i int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*i)))
}

// follow is the table that field i of t points to.
func follow(t flatbuffers.Table, i int) (flatbuffers.Table, bool) {
	at := place(t, i)
	if at == 0 {
		return t, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + t.Pos)}, true
}

// tables goes through the tables of the vector that field i of t is.
func tables(t flatbuffers.Table, i int) func(yield func(flatbuffers.Table) bool) {
	return func(yield func(flatbuffers.Table) bool) {
		at := place(t, i)
		if at == 0 {
			return
		}
		first, n := t.Vector(at), t.VectorLen(at)
		if n > min(len(t.Bytes)/4, maxArrowPairs) {
			return
		}
		for k := range n {
			if !yield(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(first + flatbuffers.UOffsetT(4*k))}) {
				return
			}
		}
	}
}

// text is the string that field i of t is.
func text(t flatbuffers.Table, i int) string {
	at := place(t, i)
	if at == 0 {
		return ""
	}
	p := t.ByteVector(at + t.Pos)
	return string(p[:min(len(p), maxArrowText)])
}
