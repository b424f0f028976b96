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
	"github.com/idxport/idxport/test/sourcetest"
)

// try reads file in whichever way it can be opened, and demands that errors are this package's, and no panics that were caught.
func try(tb testing.TB, file []byte, path string) (data [][]byte, err error) {
	tb.Helper()
	o := source.ReadOptions{MaxRecordSize: 1 << 12, DType: idx.Uint8} // for bytes of which nothing tells what they are
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

// TestTruncated cuts files everywhere. A stream may end between messages, which is noted.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fixed-None-file", "list-zstd-stream", "polars-lz4", "binary-view-long", "dictionary-numbers-lz4", "polars-stream-categorical"} {
		file, err := os.ReadFile(filepath.Join("testdata", name+".arrow"))
		if err != nil {
			t.Fatal(err)
		}
		path := save(t, file)
		for n := len(file) - 1; n >= 0; n-- {
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			for _, p := range []string{path, ""} {
				if _, err := try(t, file[:n], p); err == nil && !boundary(file, n) {
					t.Errorf("%s: %d of %d bytes: found no error", name, n, len(file))
				}
			}
		}
		if err := os.WriteFile(path, append(bytes.Clone(file), 0), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := try(t, nil, path); err == nil {
			t.Errorf("%s: found no error for a byte behind the end", name)
		}
	}
}

// boundary reports whether a message of the stream in file begins at n, or there is only the end mark.
func boundary(file []byte, n int) bool {
	return !bytes.HasPrefix(file, []byte(magic)) && n > 0 && bytes.HasPrefix(file[n:], []byte{0xff, 0xff, 0xff, 0xff})
}

// TestFlippedBits changes a bit, or a few bytes, of files of all kinds.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.arrow")
	if err != nil || len(names) < 60 {
		t.Fatal(err, len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			path := save(t, file)
			flipped, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer flipped.Close() // only read from by others
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
				if _, err := flipped.WriteAt(changed, 0); err != nil { // writing it anew takes milliseconds on some file systems
					t.Fatal(err)
				}
				_, _ = try(t, changed, path)
				_, _ = try(t, changed, "")
			}
		})
	}
}

// TestClaims are files that promise more than they have: no memory is taken for it.
func TestClaims(t *testing.T) {
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
	for _, claim := range [][]byte{{0, 0, 0, 16}, {0, 0, 0, 32}, {0, 0, 0, 0, 0, 0, 0, 64}, {0, 0, 0, 0, 0, 0, 0, 128}, {1, 4}, {255, 3}, {0, 8}} {
		changed := bytes.Clone(file)
		copy(changed[at:], claim)
		if _, err := try(t, changed, ""); !errors.Is(err, fault.Malformed) {
			t.Errorf("% x: found %v, expected fault.Malformed", claim, err)
		}
	}
}

// TestIndicesOutsideOfTheirDictionary are of the last value, and of others.
func TestIndicesOutsideOfTheirDictionary(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/category-many.arrow")
	last := []byte{299 - 256, 1, 0, 0, 0, 0, 0, 0}
	if err != nil || bytes.Count(file, last) != 1 {
		t.Fatal(err, "there is no index to change")
	}
	for found, index := range map[string][]byte{"299": last, "300": {300 - 256, 1, 0, 0, 0, 0, 0, 0}, "-1": bytes.Repeat([]byte{255}, 8)} {
		changed := bytes.Replace(file, last, index, 1)
		table, err := New(bytes.NewReader(changed), "-", source.ReadOptions{})
		if err == nil {
			_, err = sourcetest.ReadAll(table, 5)
		}
		if (err == nil) != (found == "299") || err != nil && !strings.Contains(err.Error(), "column kind, row 0: found index "+found+", expected one of the dictionary's 300 values") {
			t.Errorf("index %s: found %v", found, err)
		}
	}
}

// TestDictionariesAreBounded claims dictionaries of more values, or more bytes, than there is memory for.
func TestDictionariesAreBounded(t *testing.T) {
	t.Parallel()
	number := &field{kind: typeInt, width: 64, signed: true, node: 0}
	text := &field{kind: typeBinaryView}
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
		b := &batch{rows: test.rows, size: test.size, codec: codecNone, at: bytes.NewReader(view), nodes: []span{{test.rows, 0}},
			buffers: []span{{0, 0}, {0, 16}}, views: []int{0, 0}}
		d := &dictionary{batch: b, held: &test.held}
		if err := d.decode(test.of); !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s: found %v, expected that the dictionary is too large", name, err)
		}
	}
}

// TestLargeBody is a record batch that claims to be far larger than its input. Not parallel: it measures the memory of the whole process.
func TestLargeBody(t *testing.T) {
	written := layouttest.Random(64, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{16}})
	file := encode(t, written, sinkarrow.Options{Stream: true}, 64)
	size := []byte{0, 4, 0, 0, 0, 0, 0, 0} // of the body, the array of elements, and its buffer: 64 records of 16 bytes
	if bytes.Count(file, size) != 3 {
		t.Fatalf("found the size %d times, expected 3", bytes.Count(file, size))
	}
	for claim, want := range map[byte]error{12: fault.Truncated, 64: fault.Unsupported} { // in units of 16 MiB
		changed := bytes.ReplaceAll(file, size, []byte{0, 0, 0, claim, 0, 0, 0, 0})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := try(t, changed, "")
		runtime.ReadMemStats(&after)
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; !errors.Is(err, want) || taken > 32 {
			t.Errorf("%d MiB: found %v, expected %v; %d MiB were allocated", int(claim)*16, err, want, taken)
		}
		if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Truncated) {
			t.Errorf("%d MiB: found %v, expected fault.Truncated", int(claim)*16, err)
		}
	}
}

// FuzzRead reads whatever comes, as a file and from a pipe: nothing panics, and what both accept is the same.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.arrow")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	path := save(f, nil)
	whole, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	defer whole.Close() // only read from by others
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := whole.WriteAt(in, 0)
		if err := errors.Join(err, whole.Truncate(int64(len(in)))); err != nil {
			t.Fatal(err)
		}
		fromFile, fileErr := try(t, in, path)
		fromPipe, pipeErr := try(t, in, "")
		if bytes.HasPrefix(in, []byte(magic)) { // its footer may tell of other batches than its stream
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

// schemaMessage is a message of a stream about the schema that b has just built.
func schemaMessage(b *flatbuffers.Builder, schema flatbuffers.UOffsetT) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0) // MetadataVersion.V5
	b.PrependByteSlot(1, headerSchema, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	return append(binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(metadata))), metadata...)
}

// TestSharedParts are schemas of 80 KiB that name thousands of times what stands there once. Not parallel: it measures the memory of the whole process.
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
			b.PrependByteSlot(2, typeBool, 0)
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
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := try(t, file, "")
		runtime.ReadMemStats(&after)
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; !errors.Is(err, fault.Malformed) || taken > 16 {
			t.Errorf("%s: found %v, expected fault.Malformed; %d MiB were allocated for %d KiB", name, err, taken, len(file)>>10)
		}
	}
}

// TestBatchesThatShareBytes has a footer that tells of one record batch twice.
func TestBatchesThatShareBytes(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(65, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{64}})
	file := encode(t, written, sinkarrow.Options{}, 64)
	path := save(t, file)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // only read from
	d, err := openFeed(f, path, int64(len(file)), &codecs{})
	if err != nil || len(d.blocks) != 2 {
		t.Fatalf("found %v, expected two record batches", err)
	}
	var blocks [2][]byte // as the footer has them
	for i, p := range d.blocks {
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.offset))
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.metadata)) // and 4 bytes of padding
		blocks[i] = binary.LittleEndian.AppendUint64(blocks[i], uint64(p.body))
	}
	changed := bytes.Replace(file, blocks[1], blocks[0], 1)
	if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "record batches of more bytes than") {
		t.Errorf("found %v, expected that two record batches cannot be in one place", err)
	}
}

// TestHintOfDictionaries demands that who has numbers in a dictionary, as pandas' categories are, is not told of text.
func TestHintOfDictionaries(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"dictionary-bool": "without a dictionary", "dictionary": "IDX has no text"} {
		_, err := Open("testdata/refused-"+name+".arrow", source.ReadOptions{})
		if !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%s: found %v, expected the hint %q", name, err, want)
		}
	}
}

// TestLargeBatches are record batches as pandas and polars write a table of 785 columns and 60,000 rows, of 377 MB: they are read.
func TestLargeBatches(t *testing.T) {
	t.Parallel()
	plain := &batch{at: strings.NewReader(""), codec: codecNone, buffers: make([]span, 2*785), size: 376_800_000}
	if !plain.direct() {
		t.Error("an uncompressed batch is read into memory, expected that its rows are read where they are")
	}
	if plain.size = maxBody; plain.direct() {
		t.Error("a batch of many small buffers is read in many small pieces, expected that it is read as a whole")
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll([]byte("12345678"), nil)
	for _, test := range []struct {
		held, size int64 // decompressed before, and of the whole body
		want       error
	}{{376_800_000, 12 << 20, nil}, {maxPlain - 7, 100 << 20, fault.Unsupported}, {376_800_000, 1 << 20, fault.Unsupported}, {leastPlain - 8, 10, nil}} {
		b := &batch{codec: codecZstd, codecs: &codecs{}, plain: map[int]*plainBuffer{}, memory: test.held, size: test.size}
		held, want := test.held, test.want
		if got, err := b.decompressed(0, packed, 8, &field{}); !errors.Is(err, want) || err == nil && string(got) != "12345678" {
			t.Errorf("with %d bytes decompressed before: found %q, %v, expected %v", held, got, err, want)
		}
	}
}
