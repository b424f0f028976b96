package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestOneNoteForManyColumns reads a column for each pixel, all of a type that IDX does not have: what is said of one of them is not said of all.
func TestOneNoteForManyColumns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pyarrow-columns-int64", "pyarrow-columns-mixed"} {
		table, err := Open("testdata/"+name+".parquet", source.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if notes := source.Notes(table); len(notes) != 3 { // of the label, and of the image's type and shape
			t.Errorf("%s: found the notes %q, expected 3", name, notes)
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestValuesThatAreNoRecords reads a page that reaches beyond the batch, whose indices name a value of 64 KiB again and again, where records have 12 bytes:
// Read refuses it, rather than to copy the value for every row.
func TestValuesThatAreNoRecords(t *testing.T) {
	t.Parallel()
	table, err := Open("testdata/bad-blob.parquet", source.ReadOptions{Shape: []int{12}})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	b := &source.Raw{Cap: 64}
	if err := table.Read(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	const want = "found a value of 65536 bytes, expected at most 12"
	if err := table.Read(t.Context(), b); !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "column image, row 70, at byte ") || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, expected %q in row 70", err, want)
	}
}

// TestDictionariesAreHeld reads a column with a dictionary where as much memory is held as may be.
func TestDictionariesAreHeld(t *testing.T) {
	t.Parallel()
	opened, err := open("testdata/pyarrow-png-dictionary.parquet", source.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if opened.file.held != 0 {
		t.Errorf("found %d bytes that are held before the first row is read, expected none", opened.file.held)
	}
	opened.file.held = maxHeld - 16
	if err := opened.Read(t.Context(), &source.Raw{Cap: 1000}); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "side by side") {
		t.Errorf("found %v, expected too much memory", err)
	}
}

// TestDictionariesOfAnything makes dictionaries, of values that do not fit and of none: they take no more than twice what they are made of. Not parallel: it
// measures the memory of the whole process.
func TestDictionariesOfAnything(t *testing.T) {
	const n = 1 << 20
	large := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(large[8*i:], 1<<40)
	}
	for name, test := range map[string]struct {
		leaf *leaf
		src  []byte
	}{
		"integers that do not fit": {&leaf{node: kindNode(format.Int64), element: numberElement(source.NumberInt64, idx.Int32)}, large},
		"bytes of length 0":        {&leaf{node: kindNode(format.ByteArray)}, make([]byte, 4*n)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := newDictionary(test.leaf, test.src, n)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(name, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > uint64(len(test.src)+1<<16) {
			t.Errorf("%s: found %d bytes of memory for %d, expected hardly more", name, taken, len(test.src))
		}
		if d.memory() < int64(len(test.src)) {
			t.Errorf("%s: found %d bytes of %d counted", name, d.memory(), len(test.src))
		}
	}
}

// TestMisfitsOfADictionary has values that do not fit among others: only those that are used are damage.
func TestMisfitsOfADictionary(t *testing.T) {
	t.Parallel()
	var src []byte
	values := make([]int64, 130)
	for i := range values {
		if values[i] = int64(i); i%64 == 63 || i == 0 {
			values[i] = -1 << 33
		}
		src = binary.LittleEndian.AppendUint64(src, uint64(values[i]))
	}
	d, err := newDictionary(&leaf{node: kindNode(format.Int64), element: numberElement(source.NumberInt64, idx.Int32)}, src, len(values))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		at, err := d.at(uint32(i))
		if v < 0 {
			var m *misfit
			if !errors.As(err, &m) || m.message != "-8589934592" {
				t.Errorf("entry %d: found %v, expected that −2³³ does not fit", i, err)
			}
		} else if err != nil || int64(binary.LittleEndian.Uint32(d.table[at:])) != v {
			t.Errorf("entry %d: found other than %d: %v", i, v, err)
		}
	}
}

// TestManyParts is a footer that lists more structs, of 3 bytes each, than there is memory for what a decoder makes of them.
func TestManyParts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]error{maxParts: nil, maxParts + 1: errCompactMany} {
		list := binary.AppendUvarint([]byte{0x19, 0xfc}, uint64(n)) // field 1: a list of structs
		list = append(list, bytes.Repeat([]byte{0x26, 0, 0}, n)...) // field 2: 0
		c := compact{data: append(list, 0)}
		if err := c.skip(compactStruct, 0, false); !errors.Is(err, want) {
			t.Errorf("%d parts: found %v, expected %v", n, err, want)
		}
	}
}
