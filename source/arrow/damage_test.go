package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/sink"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// try reads file from path, or from a pipe if path is empty. Errors must have a kind and a path,
// and must not be panics of the runtime.
func try(tb testing.TB, file []byte, path string) (data [][]byte, err error) {
	tb.Helper()
	o := source.ReadOptions{MaxRecordSize: 1 << 12, DType: idx.Uint8, Shape: []int{12}} // for bytes of an unknown type
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
	if err != nil && (!errors.As(err, &e) || e.Kind == "" || e.Path == "" ||
		strings.Contains(err.Error(), "reading failed")) {
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

// TestTruncated cuts files at every byte.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fixed-None-file", "list-zstd-stream", "polars-lz4", "binary-view-long",
		"dictionary-numbers-lz4"} {
		file := must.Get(os.ReadFile(filepath.Join("testdata", name+".arrow")))(t)
		path := save(t, append(bytes.Clone(file), 0))
		_, err := try(t, nil, path)
		if _, twice := try(t, nil, save(t, bytes.Repeat(file, 2))); err == nil || twice == nil {
			t.Errorf("%s: found %v for a byte after the end, and %v for two files in one", name, err, twice)
		}
		for n := len(file) - 1; n >= 0; n-- {
			must.Do(t, os.Truncate(path, int64(n)))
			_, err := try(t, nil, path)
			_, ofPipe := try(t, file[:n], "")
			if err == nil || ofPipe == nil {
				t.Errorf("%s: %d of %d bytes: found %v and, in a pipe, %v", name, n, len(file), err, ofPipe)
			}
		}
	}
}

// TestImpossibleBatches has record batches of a body of 64 bytes with numbers that arrow-go trusts:
// pairs for arrays and for buffers, and how many buffers each column of views has.
func TestImpossibleBatches(t *testing.T) {
	t.Parallel()
	type longs = []int64
	for name, test := range map[string]struct {
		nodes, buffers, counts longs
		views                  int // columns in the schema
		ok                     bool
	}{
		"some nulls":                  {nodes: longs{3, 0, 3, 3}, ok: true},
		"more nulls than values":      {nodes: longs{3, 4}},
		"more values than any file":   {nodes: longs{maxRows + 1, 0}},
		"buffers in the body":         {buffers: longs{0, 64, 64, 0, 60, 4}, ok: true},
		"a buffer behind the body":    {buffers: longs{60, 5}},
		"views":                       {buffers: longs{0, 0, 0, 0}, counts: longs{0, 2}, views: 2, ok: true},
		"views without their numbers": {buffers: longs{0, 0}, views: 1},
		"views of more buffers":       {buffers: longs{0, 0}, counts: longs{2}, views: 1},
	} {
		b, vectors := flatbuffers.NewBuilder(0), map[int]flatbuffers.UOffsetT{}
		for slot, numbers := range map[int]longs{1: test.nodes, 2: test.buffers, 4: test.counts} {
			size := 16 >> (slot / 4) // bytes of a pair, or of a number
			b.StartVector(size, len(numbers)*8/size, 8)
			for _, n := range slices.Backward(numbers) {
				b.PrependInt64(n)
			}
			vectors[slot] = b.EndVector(len(numbers) * 8 / size)
		}
		b.StartObject(5)
		for slot, v := range vectors {
			b.PrependUOffsetTSlot(slot, v, 0)
		}
		b.Finish(b.EndObject())
		err := root(b.FinishedBytes()).batch(&summary{body: 64}, test.views)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

// TestLargeBody has a record batch whose size is far larger than its input. It is not parallel, as
// it measures the memory of the whole process.
func TestLargeBody(t *testing.T) {
	written := layouttest.Random(64, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{16}})
	file := encode(t, written, sink.Options{Stream: true}, 64)
	size := []byte{0, 4, 0, 0, 0, 0, 0, 0} // of the body, the array of elements, and its buffer: 64 records of 16 bytes
	if bytes.Count(file, size) != 3 {
		t.Fatalf("found the size %d times, expected 3", bytes.Count(file, size))
	}
	for size16, want := range map[byte]error{12: fault.Truncated, 80: fault.Unsupported} { // in units of 16 MiB
		changed := bytes.ReplaceAll(file, size, []byte{0, 0, 0, size16, 0, 0, 0, 0})
		taken, err := tryMeasured(t, changed)
		if !errors.Is(err, want) || taken > 32 {
			t.Errorf("%d MiB: found %v, expected %v; %d MiB were allocated", int(size16)*16, err, want, taken)
		}
		if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Truncated) {
			t.Errorf("%d MiB: found %v, expected fault.Truncated", int(size16)*16, err)
		}
	}
	d := message{summary: summary{kind: ipc.MessageDictionaryBatch, body: 9 << 20}}
	if err := (&messages{known: []message{d}}).passBody(&d, true); !errors.Is(err, fault.Unsupported) {
		t.Errorf("found %v, expected that two dictionaries are too large", err)
	}
	for _, headless := range [][]byte{file[8+binary.LittleEndian.Uint32(file[4:]):], file[len(file)-8:]} {
		if _, err := try(t, headless, ""); err == nil || !strings.Contains(err.Error(), "found no schema") {
			t.Errorf("found %v, expected that there is no schema", err)
		}
	}
}

// TestExpandingBatch has a record batch of kilobytes that decompresses to more than is allowed. It
// is not parallel, as it measures the memory of the whole process.
func TestExpandingBatch(t *testing.T) {
	written := layouttest.Random(65<<8, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{1 << 12}})
	clear(written.Data[0])
	file := encode(t, written, sink.Options{Stream: true, Compression: compressed.Codec{Name: "zstd"}}, written.Rows)
	taken, err := tryMeasured(t, file)
	if !errors.Is(err, fault.Unsupported) || fault.HintOf(err) != hintSmaller || taken > 80 {
		t.Errorf("found %v, expected that it is too large; %d MiB were allocated for %d bytes", err, taken, len(file))
	}
	for _, codec := range sinkarrow.Codecs()[1:] { // of windows in a file
		file := encode(t, written, sink.Options{Compression: compressed.Codec{Name: codec}}, written.Rows)
		if _, err := try(t, nil, save(t, file)); !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s: found %v, expected that it is too large", codec, err)
		}
	}
	if most := (&summary{body: 2 << 20}).maxPlain(); most != 128<<20 {
		t.Errorf("a body of 2 MiB may have %d bytes, expected 128 MiB", most)
	}
}

// FuzzRead reads any input as a file and from a pipe: both must give the same values, and nothing
// may panic.
func FuzzRead(f *testing.F) {
	for _, name := range must.Get(filepath.Glob("testdata/*.arrow"))(f) {
		f.Add(must.Get(os.ReadFile(name))(f))
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
		if fileErr == nil && pipeErr != nil { // windows find more damage, such as bytes after the last value
			t.Fatalf("a file: no error; a pipe: %v", pipeErr)
		}
		for i := range fromFile {
			if fileErr == nil && !bytes.Equal(fromFile[i], fromPipe[i]) {
				t.Fatalf("column %d: a file has other values than a pipe", i)
			}
		}
	})
}

// schemaMessage returns the message of a stream with the schema that b has just built.
func schemaMessage(b *flatbuffers.Builder, schema flatbuffers.UOffsetT) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0) // MetadataVersion.V5
	b.PrependByteSlot(1, byte(ipc.MessageSchema), 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	return append(binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(metadata))), metadata...)
}

// TestSharedParts has schemas of 80 KiB that refer to one part thousands of times: to a field, and
// to a pair of metadata. It is not parallel, as it measures the memory of the whole process.
func TestSharedParts(t *testing.T) {
	const times = 4096
	for slot, fields := range map[int]int{1: 7, 2: 2} { // of the schema, and the slots of a part
		b := flatbuffers.NewBuilder(0)
		long := b.CreateString(strings.Repeat("x", 1<<16))
		b.StartObject(fields)
		b.PrependUOffsetTSlot(0, long, 0)
		if slot == 1 {
			b.PrependByteSlot(2, 2, 0) // Int
		}
		part := b.EndObject()
		b.StartVector(4, times, 4)
		for range times {
			b.PrependUOffsetT(part)
		}
		parts := b.EndVector(times)
		b.StartObject(4)
		b.PrependUOffsetTSlot(slot, parts, 0)
		taken, err := tryMeasured(t, schemaMessage(b, b.EndObject()))
		if !errors.Is(err, fault.Malformed) || taken > 16 {
			t.Errorf("slot %d: found %v, expected fault.Malformed; %d MiB were allocated", slot, err, taken)
		}
	}
}

// TestBatchesThatShareBytes has a footer with the same record batch twice.
func TestBatchesThatShareBytes(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(65, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{64}})
	file := encode(t, written, sink.Options{}, 64)
	// The blocks of the footer have 24 bytes, which begin with the offset of a message: that of the
	// last is behind the body of the other, with 64 rows of 64 bytes.
	second := bytes.LastIndex(file, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}) // the end mark, before the footer
	at := bytes.LastIndex(file[:second], []byte{0xff, 0xff, 0xff, 0xff})
	block := bytes.LastIndex(file, binary.LittleEndian.AppendUint64(nil, uint64(at)))
	copy(file[block:block+24], file[block-24:block])
	if _, err := try(t, file, save(t, file)); err == nil || !strings.Contains(err.Error(), "bytes than the file has") {
		t.Errorf("found %v, expected that two record batches cannot overlap", err)
	}
}
