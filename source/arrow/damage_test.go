package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/fault"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// try reads file from path, or from a pipe if path is empty. Errors must have a kind and a path,
// and must not be panics of the runtime.
func try(tb testing.TB, file []byte, path string) (data [][]byte, err error) {
	tb.Helper()
	o := source.ReadOptions{MaxRecordSize: 1 << 12, DType: idx.Uint8} // for bytes of an unknown type
	var table source.Table
	if path == "" {
		table, err = New(bytes.NewReader(file), "-", o)
	} else {
		table, err = Open(path, o)
	}
	if err == nil {
		data, err = sourcetest.ReadAll(table, 5)
		if c := table.Close(); c != nil {
			tb.Error(c)
		}
	}
	var e *fault.Error
	if err != nil && (!errors.As(err, &e) || e.Kind == 0 || e.Path == "" || strings.Contains(err.Error(), "reading failed")) {
		tb.Fatalf("found %v, expected an error of a kind about the file", err)
	}
	return data, err
}

// tryMeasured tries file from a pipe, and returns how many MiB were allocated by all of the
// process.
func tryMeasured(t *testing.T, file []byte) (taken uint64, err error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = try(t, file, "")
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20, err
}

// TestTruncated cuts files at every byte. A stream may end between messages, which is noted.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fixed-None-file", "list-zstd-stream", "polars-lz4", "binary-view-long", "dictionary-numbers-lz4"} {
		file := must.Get(os.ReadFile(filepath.Join("testdata", name+".arrow")))(t)
		path := save(t, file)
		for n := len(file) - 1; n >= 0; n-- {
			must.Do(t, os.Truncate(path, int64(n)))
			for _, p := range inputs(file, path) {
				if _, err := try(t, file[:n], p); err == nil && !boundary(file, n) {
					t.Errorf("%s: %d of %d bytes: found no error", name, n, len(file))
				}
			}
		}
		must.Do(t, os.WriteFile(path, append(bytes.Clone(file), 0), 0o600))
		if _, err := try(t, nil, path); err == nil {
			t.Errorf("%s: found no error for a byte after the end", name)
		}
	}
}

// inputs returns the ways to try a file: from path and, if it is a stream, from a pipe.
func inputs(file []byte, path string) []string {
	if bytes.HasPrefix(file, []byte(magic)) {
		return []string{path}
	}
	return []string{path, ""}
}

// boundary reports whether a message of the stream in file, or its end mark, begins at n.
func boundary(file []byte, n int) bool {
	return !bytes.HasPrefix(file, []byte(magic)) && n > 0 && bytes.HasPrefix(file[n:], []byte{0xff, 0xff, 0xff, 0xff})
}

// TestFlippedBits changes bits and bytes of files of all kinds.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.arrow")
	if err != nil || len(names) < 60 {
		t.Fatal(err, len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			file := must.Get(os.ReadFile(name))(t)
			path := save(t, file)
			flipped := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
			defer flipped.Close() // an error does not matter: those of writing were checked
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 60 {
				changed := bytes.Clone(file)
				for range 1 + i%3 {
					at := random.IntN(len(changed))
					changed[at] ^= 1 << random.IntN(8)
					if i%5 == 0 {
						changed[at] = 0xff
					}
				}
				if _, err := flipped.WriteAt(changed, 0); err != nil { // a new file takes milliseconds on some file systems
					t.Fatal(err)
				}
				_, _ = try(t, changed, path)
				_, _ = try(t, changed, "")
			}
		})
	}
}

// TestWrongBufferSizes has compressed buffers with wrong sizes after decompression: no memory is
// allocated for them.
func TestWrongBufferSizes(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(64, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{16}})
	clear(written.Data[0])
	file := encode(t, written, sinkarrow.Options{Compression: "zstd", Stream: true}, 64)
	const frame = "\x28\xb5\x2f\xfd" // of zstd
	at := bytes.Index(file, []byte(frame)) - 8
	size := []byte{0, 4, 0, 0, 0, 0, 0, 0} // 64 records of 16 bytes
	if !bytes.Equal(file[at:at+8], size) {
		t.Fatal("there is no size to change")
	}
	for _, wrong := range [][]byte{{0, 0, 0, 16}, {0, 0, 0, 32}, {0, 0, 0, 0, 0, 0, 0, 64}, {0, 0, 0, 0, 0, 0, 0, 128}, {1, 4}, {255, 3}, {0, 8}} {
		changed := bytes.Clone(file)
		copy(changed[at:], wrong)
		if _, err := try(t, changed, ""); !errors.Is(err, fault.Malformed) && !errors.Is(err, fault.Unsupported) {
			t.Errorf("% x: found %v, expected that it is wrong or too large", wrong, err)
		}
	}
}

// TestDictionaryIndicesOutOfRange has indices of the last value and beyond.
func TestDictionaryIndicesOutOfRange(t *testing.T) {
	t.Parallel()
	numbers := array.NewData(arrow.PrimitiveTypes.Uint8, 2, []*memory.Buffer{nil, memory.NewBufferBytes([]byte{7, 8})}, nil, 0, 0)
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Uint8}
	for last, ok := range map[byte]bool{1: true, 2: false, 255: false} {
		indices := []*memory.Buffer{nil, memory.NewBufferBytes([]byte{1, last})}
		column := array.NewDictionaryData(array.NewDataWithDictionary(kind, 2, indices, 0, 0, numbers))
		schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: kind}}, nil)
		record := func() (arrow.RecordBatch, error) { return array.NewRecordBatch(schema, []arrow.Array{column}, 2), nil }
		a, err := (&leaf{name: "x"}).entriesOf(&batch{rows: 2, record: record})
		if ok != (err == nil) || err != nil && (!errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "column x: ")) {
			t.Errorf("index %d: found %v", last, err)
		}
		if !ok {
			continue
		}
		if v, err := encoded(column); a == nil || err != nil || string(v.Data) != "\x08\x08" {
			t.Errorf("found % x and %v, expected 8 and 8", v.Data, err)
		}
	}
}

// recordBatch returns a RecordBatch of Message.fbs whose vectors have these pairs and numbers.
func recordBatch(nodes, buffers [][2]int64, counts []int64) walk {
	b := flatbuffers.NewBuilder(0)
	pairs := func(all [][2]int64) flatbuffers.UOffsetT {
		b.StartVector(16, len(all), 8)
		for _, pair := range slices.Backward(all) {
			b.PrependInt64(pair[1])
			b.PrependInt64(pair[0])
		}
		return b.EndVector(len(all))
	}
	n, m := pairs(nodes), pairs(buffers)
	b.StartVector(8, len(counts), 8)
	for _, count := range slices.Backward(counts) {
		b.PrependInt64(count)
	}
	c := b.EndVector(len(counts))
	b.StartObject(5)
	b.PrependUOffsetTSlot(1, n, 0)
	b.PrependUOffsetTSlot(2, m, 0)
	b.PrependUOffsetTSlot(4, c, 0)
	b.Finish(b.EndObject())
	return root(b.FinishedBytes())
}

// TestImpossibleBatches has record batches whose numbers arrow-go would trust.
func TestImpossibleBatches(t *testing.T) {
	t.Parallel()
	type pairs = [][2]int64
	for name, test := range map[string]struct {
		nodes, buffers pairs
		counts         []int64
		views          int // columns in the schema
		ok             bool
	}{
		"nothing":                           {ok: true},
		"some nulls":                        {nodes: pairs{{3, 0}, {3, 3}}, ok: true},
		"more nulls than values":            {nodes: pairs{{3, 4}}},
		"fewer nulls than none":             {nodes: pairs{{3, -1}}},
		"fewer values than none":            {nodes: pairs{{-1, -1}}},
		"more values than any file":         {nodes: pairs{{maxRows + 1, 0}}},
		"buffers in the body":               {buffers: pairs{{0, 64}, {64, 0}, {60, 4}}, ok: true},
		"a buffer behind the body":          {buffers: pairs{{60, 5}}},
		"a buffer before the body":          {buffers: pairs{{-1, 1}}},
		"a buffer of fewer bytes than none": {buffers: pairs{{0, -1}}},
		"views":                             {buffers: pairs{{0, 0}, {0, 0}}, counts: []int64{0, 2}, views: 2, ok: true},
		"views without their numbers":       {buffers: pairs{{0, 0}}, views: 1},
		"views of more buffers":             {buffers: pairs{{0, 0}}, counts: []int64{2}, views: 1},
		"views of fewer buffers than none":  {counts: []int64{-1}, views: 1},
	} {
		err := recordBatch(test.nodes, test.buffers, test.counts).checkBatch(&summary{body: 64}, test.views)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

// TestAllocator limits what buffers may have after decompression, by the size of the body: of
// kilobytes, or of a table of 785 columns of int64.
func TestAllocator(t *testing.T) {
	t.Parallel()
	for body, limit := range map[int]int{0: minPlain, 10 << 20: 640 << 20, 1 << 29: maxBody} {
		a := newAllocator(body)
		if a.limit != limit {
			t.Errorf("a body of %d bytes: found the limit %d, expected %d", body, a.limit, limit)
		}
		a.left = 100
		a.Allocate(60)
		err := func() (err error) {
			defer columnar.Recovered(&err)
			a.Reallocate(50, make([]byte, 10))
			return nil
		}()
		if !errors.Is(err, fault.Unsupported) {
			t.Errorf("found %v, expected that it is too much", err)
		}
	}
}

// TestLargeBody has a record batch whose size is far larger than its input. It is not parallel, as
// it measures the memory of the whole process.
func TestLargeBody(t *testing.T) {
	written := layouttest.Random(64, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{16}})
	file := encode(t, written, sinkarrow.Options{Stream: true}, 64)
	size := []byte{0, 4, 0, 0, 0, 0, 0, 0} // of the body, the array of elements, and its buffer: 64 records of 16 bytes
	if bytes.Count(file, size) != 3 {
		t.Fatalf("found the size %d times, expected 3", bytes.Count(file, size))
	}
	for size16, want := range map[byte]error{12: fault.Truncated, 64: fault.Unsupported} { // in units of 16 MiB
		changed := bytes.ReplaceAll(file, size, []byte{0, 0, 0, size16, 0, 0, 0, 0})
		taken, err := tryMeasured(t, changed)
		if !errors.Is(err, want) || taken > 32 {
			t.Errorf("%d MiB: found %v, expected %v; %d MiB were allocated", int(size16)*16, err, want, taken)
		}
		if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Truncated) {
			t.Errorf("%d MiB: found %v, expected fault.Truncated", int(size16)*16, err)
		}
	}
}

// TestExpandingBatch has a record batch of kilobytes that decompresses to more than is allowed. It
// is not parallel, as it measures the memory of the whole process.
func TestExpandingBatch(t *testing.T) {
	written := layouttest.Random(65, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{1 << 20}})
	clear(written.Data[0])
	file := encode(t, written, sinkarrow.Options{Stream: true, Compression: "zstd"}, 65)
	taken, err := tryMeasured(t, file)
	if !errors.Is(err, fault.Unsupported) || fault.HintOf(err) != hintSmaller || taken > 80 {
		t.Errorf("found %v, expected that it is too large; %d MiB were allocated for %d bytes", err, taken, len(file))
	}
}

// FuzzRead reads any input as a file and from a pipe: both must give the same, and nothing may
// panic.
func FuzzRead(f *testing.F) {
	names := must.Get(filepath.Glob("testdata/*.arrow"))(f)
	for _, name := range names {
		file := must.Get(os.ReadFile(name))(f)
		f.Add(file)
	}
	path := save(f, nil)
	whole := must.Get(os.OpenFile(path, os.O_RDWR, 0))(f)
	defer whole.Close() // an error does not matter: those of writing were checked
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := whole.WriteAt(in, 0)
		must.Do(t, errors.Join(err, whole.Truncate(int64(len(in)))))
		fromFile, fileErr := try(t, in, path)
		fromPipe, pipeErr := try(t, in, "")
		if bytes.HasPrefix(in, []byte(magic)) { // its footer may have other batches than its stream
			return
		}
		if (fileErr == nil) != (pipeErr == nil) {
			t.Fatalf("a file: %v; a pipe: %v", fileErr, pipeErr)
		}
		for i := range fromFile {
			if fileErr == nil && !bytes.Equal(fromFile[i], fromPipe[i]) {
				t.Fatalf("column %d: a file has other values than a pipe", i)
			}
		}
	})
}

// TestVectorsOfManyElements has vectors of 2³¹ elements and more, which is negative where an int
// has 32 bits.
func TestVectorsOfManyElements(t *testing.T) {
	t.Parallel()
	for _, n := range []byte{0x7f, 0x80, 0xff} {
		// The root at 10, a vtable of one field at 4; its table at 10; the vector that is the field
		// at 18.
		table := root([]byte{10, 0, 0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, n, 0, 0})
		err := func() (err error) {
			defer refuseOutside(&err)
			table.vector(0, 8)
			return nil
		}()
		if !errors.Is(err, fault.Malformed) {
			t.Errorf("length 0x%02x000000: found %v, expected that it is too large", n, err)
		}
	}
}

// schemaMessage returns the message of a stream with the schema that b has just built.
func schemaMessage(b *flatbuffers.Builder, schema flatbuffers.UOffsetT) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0) // MetadataVersion.V5
	b.PrependByteSlot(1, kindSchema, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	return append(binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(metadata))), metadata...)
}

// TestSharedParts has schemas of 80 KiB that refer to one part thousands of times. It is not
// parallel, as it measures the memory of the whole process.
func TestSharedParts(t *testing.T) {
	const times = 4096
	repeated := func(b *flatbuffers.Builder, of flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(4, times, 4)
		for range times {
			b.PrependUOffsetT(of)
		}
		return b.EndVector(times)
	}
	for name, fill := range map[string]func(b *flatbuffers.Builder) (fields, metadata flatbuffers.UOffsetT){
		"fields": func(b *flatbuffers.Builder) (fields, metadata flatbuffers.UOffsetT) {
			long := b.CreateString(strings.Repeat("x", 1<<16))
			b.StartObject(7)
			b.PrependUOffsetTSlot(0, long, 0)
			b.PrependByteSlot(2, 2, 0) // Int
			return repeated(b, b.EndObject()), 0
		},
		"metadata": func(b *flatbuffers.Builder) (fields, metadata flatbuffers.UOffsetT) {
			long := b.CreateString(strings.Repeat("x", 1<<16))
			b.StartObject(2)
			b.PrependUOffsetTSlot(1, long, 0)
			return 0, repeated(b, b.EndObject())
		},
	} {
		b := flatbuffers.NewBuilder(0)
		fields, metadata := fill(b)
		b.StartObject(4)
		b.PrependUOffsetTSlot(1, fields, 0)
		b.PrependUOffsetTSlot(2, metadata, 0)
		file := schemaMessage(b, b.EndObject())
		taken, err := tryMeasured(t, file)
		if !errors.Is(err, fault.Malformed) || taken > 16 {
			t.Errorf("%s: found %v, expected fault.Malformed; %d MiB were allocated for %d KiB", name, err, taken, len(file)>>10)
		}
	}
}

// TestBatchesThatShareBytes has a footer with the same record batch twice.
func TestBatchesThatShareBytes(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(65, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{64}})
	file := encode(t, written, sinkarrow.Options{}, 64)
	path := save(t, file)
	f := must.Get(os.Open(path))(t)
	defer f.Close() // read-only: an error does not matter
	m := &messages{file: f, end: int64(len(file))}
	if _, err := m.open(); err != nil {
		t.Fatal(err)
	}
	if len(m.places) != 2 {
		t.Fatalf("found %v, expected two record batches", m.places)
	}
	again := *m
	if b, err := again.next(0); err != nil || b.whole == nil || b.rows != 1 {
		t.Errorf("found %+v and %v, expected a window of one row", b, err)
	}
	var blocks [2][]byte // as they are in the footer
	for i, p := range m.places {
		msg := must.Get(readMessage(m.section(p.offset), p.offset, nil))(t)
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.offset))
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(msg.size)) // and 4 bytes of padding
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.body))
	}
	changed := bytes.Replace(file, blocks[1], blocks[0], 1)
	if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "more bytes together than") {
		t.Errorf("found %v, expected that two record batches cannot overlap", err)
	}
}

// TestDictionaryHint checks that the hint about a dictionary of truth values is not about names.
func TestDictionaryHint(t *testing.T) {
	t.Parallel()
	_, err := Open("testdata/refused-dictionary-bool.arrow", source.ReadOptions{})
	if want := "without a dictionary"; !strings.Contains(fault.HintOf(err), want) {
		t.Errorf("found %v, expected the hint %q", err, want)
	}
}
