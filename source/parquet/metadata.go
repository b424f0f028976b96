package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source/columnar"
)

// arrowSchemaKey is the key of a file's metadata for the Arrow schema, as Arrow's writers and this program leave it.
const arrowSchemaKey = "ARROW:schema"

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
			case schema.KeyDType, schema.KeyShape, columnar.KeyExtension, columnar.KeyExtensionMetadata:
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
	if signed != 0 && kind.GetBool(signed+kind.Pos) {
		return fmt.Sprintf("int%d", kind.GetInt32(bits+kind.Pos))
	}
	return fmt.Sprintf("uint%d", kind.GetInt32(bits+kind.Pos))
}

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
