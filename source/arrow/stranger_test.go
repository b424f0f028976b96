package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
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
)

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
