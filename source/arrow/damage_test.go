package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/fault"
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
	for _, name := range []string{"fixed-None-file", "list-zstd-stream", "polars-lz4", "binary-view-long", "dictionary-numbers-lz4", "polars-stream-categorical"} {
		file := must.Get(os.ReadFile(filepath.Join("testdata", name+".arrow")))(t)
		path := save(t, file)
		for n := len(file) - 1; n >= 0; n-- {
			must.Do(t, os.Truncate(path, int64(n)))
			for _, p := range []string{path, ""} {
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
		if _, err := try(t, changed, ""); !errors.Is(err, fault.Malformed) {
			t.Errorf("% x: found %v, expected fault.Malformed", wrong, err)
		}
	}
}

// TestDictionaryIndicesOutOfRange has indices of the last value and beyond.
func TestDictionaryIndicesOutOfRange(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/category-many.arrow")
	last := []byte{299 - 256, 1, 0, 0, 0, 0, 0, 0}
	if err != nil || bytes.Count(file, last) != 1 {
		t.Fatal(err, "there is no index to change")
	}
	for found, index := range map[string][]byte{"299": last, "300": {300 - 256, 1, 0, 0, 0, 0, 0, 0}, "-1": bytes.Repeat([]byte{255}, 8)} {
		changed := bytes.Replace(file, last, index, 1)
		_, err := readAllOf(changed)
		if (err == nil) != (found == "299") || err != nil && !strings.Contains(err.Error(), "column kind, row 0: found index "+found+", expected one of the dictionary's 300 values") {
			t.Errorf("index %s: found %v", found, err)
		}
	}
}

// TestDictionariesAreBounded has dictionaries with more values or bytes than allowed.
func TestDictionariesAreBounded(t *testing.T) {
	t.Parallel()
	number, text := &field{}, &field{arrowType: arrowType{view: true}}
	number.Number = source.NumberInt64
	for name, test := range map[string]struct {
		of   *field
		rows int64
		size int64
		held int64
	}{
		"rows":          {number, 1 << 40, 8, 0},
		"text":          {text, maxNames + 1, 8, 0},
		"body":          {number, 1, maxDictionaries + 1, 0},
		"with others":   {number, 1000, 8000, maxDictionaries - 4000},
		"length of one": {text, 1, 16, 0},
	} {
		view := append(binary.LittleEndian.AppendUint32(nil, maxValue), make([]byte, 12)...)
		b := &batch{rows: test.rows, size: test.size, codec: codecNone, file: bytes.NewReader(view), nodes: []span{{test.rows, 0}},
			buffers: []span{{0, 0}, {0, 16}}, views: []int{0, 0}}
		x := &dictionary{number: test.of.Number}
		if err := caught(func() { x.decode(b, test.of, nil, maxDictionaries-test.held, false) }); !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s: found %v, expected that the dictionary is too large", name, err)
		}
	}
}

// TestNumbersOfNulls has arrays of negative lengths, and of more nulls than values or fewer than 0.
func TestNumbersOfNulls(t *testing.T) {
	t.Parallel()
	for node, valid := range map[span]bool{{3, 0}: true, {3, 3}: true, {3, 4}: false, {3, -1}: false, {-1, -1}: false} {
		b := &batch{nodes: []span{node}}
		if err := caught(func() { b.node(&field{}) }); (err == nil) != valid {
			t.Errorf("%v: found %v", node, err)
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
		root := flatRoot([]byte{10, 0, 0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, n, 0, 0})
		if err := caught(func() { root.vector(0, 8) }); err != errOutside {
			t.Errorf("length 0x%02x000000: found %v, expected that it is too large", n, err)
		}
	}
}

// TestViewsOfManyBuffers has columns of views with more buffers than the record batch has.
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
	if err := caught(func() { new(feed).parseBatch(flatRoot(b.FinishedBytes()), message{}) }); !errors.Is(err, fault.Malformed) {
		t.Errorf("found %v, expected that 3 columns of views have more than the 2 buffers there are", err)
	}
}

// schemaMessage returns the message of a stream with the schema that b has just built.
func schemaMessage(b *flatbuffers.Builder, schema flatbuffers.UOffsetT) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0) // MetadataVersion.V5
	b.PrependByteSlot(1, headerSchema, 0)
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
			b.PrependByteSlot(2, typeInt, 0)
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
	d := openFeed(f, int64(len(file)))
	if len(d.places) != 2 {
		t.Fatalf("found %v, expected two record batches", d.places)
	}
	var blocks [2][]byte // as they are in the footer
	for i, p := range d.places {
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.offset))
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.metadata)) // and 4 bytes of padding
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.body))
	}
	changed := bytes.Replace(file, blocks[1], blocks[0], 1)
	if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "more bytes together than") {
		t.Errorf("found %v, expected that two record batches cannot overlap", err)
	}
}

// TestDictionaryHint checks that the hint about a dictionary of numbers, such as a category of
// pandas, is not about text.
func TestDictionaryHint(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"dictionary-bool": "without a dictionary", "dictionary": "encode it as numbers"} {
		_, err := Open("testdata/refused-"+name+".arrow", source.ReadOptions{})
		if !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%s: found %v, expected the hint %q", name, err, want)
		}
	}
}

// TestLargeBatches has record batches of 377 MB, as pandas and polars write a table of 785 columns
// and 60,000 rows. They can be read.
func TestLargeBatches(t *testing.T) {
	t.Parallel()
	plain := &batch{file: strings.NewReader(""), codec: codecNone, buffers: make([]span, 2*785), size: 376_800_000}
	if !plain.direct() {
		t.Error("an uncompressed batch is read into memory, expected that its rows are read from the file")
	}
	if plain.size = maxBody; plain.direct() {
		t.Error("a batch of many small buffers is read in many small pieces, expected that it is read as a whole")
	}
	w := must.Get(zstd.NewWriter(nil))(t)
	packed := w.EncodeAll([]byte("12345678"), nil)
	for _, test := range []struct {
		held, size int64 // decompressed before, and of the whole body
		want       error
	}{{376_800_000, 12 << 20, nil}, {maxPlain - 7, 100 << 20, fault.Unsupported}, {376_800_000, 1 << 20, fault.Unsupported}, {minPlain - 8, 10, nil}} {
		b := &batch{codec: codecZstd, codecs: newCodecs(), plain: map[int][]byte{}, held: test.held, size: test.size, body: packed}
		var got []byte
		err := caught(func() { got = b.decompressed(0, span{0, int64(len(packed))}, 8, &field{}) })
		if !errors.Is(err, test.want) || err == nil && string(got) != "12345678" {
			t.Errorf("with %d bytes decompressed before: found %q, %v, expected %v", test.held, got, err, test.want)
		}
	}
}
