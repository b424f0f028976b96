package compressed

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// TestSeekTable parses a stream by the fields of the format's description and decompresses each
// frame on its own.
func TestSeekTable(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int{
		"nothing":        {},
		"an empty block": {0},
		"one byte":       {1},
		"several sizes":  {24, 1000, 0, 1, 70_000, 0, 300_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocks := makeBlocks(sizes)
			raw := writeSeekable(t, Codec{Name: "zstd"}, blocks, 1)
			var frames [][]byte // the data of each; an empty stream has an empty frame
			for _, b := range blocks {
				if len(b) > 0 {
					frames = append(frames, b)
				}
			}
			if frames == nil {
				frames = [][]byte{nil}
			}
			number := func(at int) uint32 { return binary.LittleEndian.Uint32(raw[at:]) }
			table := len(raw) - 8 - 12*len(frames) - 9
			if number(table) != 0x184D2A5E || number(table+4) != uint32(12*len(frames)+9) {
				t.Fatalf("found the frame header % x", raw[table:table+8])
			}
			if footer := raw[len(raw)-9:]; number(len(raw)-9) != uint32(len(frames)) || string(footer[4:]) != "\x80\xb1\xea\x92\x8f" {
				t.Errorf("found the footer % x", footer)
			}
			at := 0
			for i, want := range frames {
				entry := table + 8 + 12*i
				size := int(number(entry))
				data := decode(t, raw[at:at+size])
				if !bytes.Equal(data, want) || int(number(entry+4)) != len(want) || number(entry+8) != uint32(xxhash.Sum64(want)) {
					t.Errorf("frame %d: found %d bytes and the entry % x", i, len(data), raw[entry:entry+12])
				}
				at += size
			}
			if at != table {
				t.Errorf("the frames end at %d, expected %d", at, table)
			}
			if whole := decode(t, raw); !bytes.Equal(whole, bytes.Join(blocks, nil)) {
				t.Errorf("decompressed as one stream: found %d bytes", len(whole))
			}
		})
	}
}

// decode decompresses raw.
func decode(t *testing.T, raw []byte) []byte {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSeekTableOfZstd checks that only zstd streams of NewSeekable have the table, and that the
// stream before it is unchanged.
func TestSeekTableOfZstd(t *testing.T) {
	t.Parallel()
	blocks := makeBlocks([]int{1000, 2000, 30_000})
	for _, c := range []Codec{{}, {Name: "none"}, {Name: "gzip"}, {Name: "zstd"}, {Name: "zstd", Level: 7}} {
		without, with := writeAll(t, c, blocks, 1), writeSeekable(t, c, blocks, 1)
		added := 0
		if c.Name == "zstd" {
			added = 8 + 3*12 + 9
		}
		if !bytes.HasPrefix(with, without) || len(with) != len(without)+added {
			t.Errorf("%v: found %d bytes, expected those %d without a table and %d more", c, len(with), len(without), added)
		}
		if again := writeSeekable(t, c, blocks, 8); !bytes.Equal(again, with) {
			t.Errorf("%v: 8 goroutines give other bytes than one", c)
		}
	}
}

// TestSeekTableAfterReset checks that a second stream of a Writer has its own table.
func TestSeekTableAfterReset(t *testing.T) {
	t.Parallel()
	blocks := makeBlocks([]int{1000, 2000})
	var first, second bytes.Buffer
	w, err := NewSeekable(&first, Codec{Name: "zstd"})
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range []*bytes.Buffer{&first, &second} {
		if i > 0 {
			w.Reset(out)
		}
		for _, block := range blocks {
			b, err := w.Encode(block)
			if err == nil {
				err = w.Append(b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the streams differ")
	}
}

// A stream has no table if the size of a frame does not fit.
func TestNoSeekTableForHugeFrames(t *testing.T) {
	t.Parallel()
	var table seekTable
	frame := []byte("\x28\xb5\x2f\xfd, data, sum.")
	table.add(frame, 10)
	table.add(frame, math.MaxUint32)
	if len(table.bytes()) != 8+2*12+9 {
		t.Errorf("found % x", table.bytes())
	}
	table.add(frame, math.MaxUint32+1)
	table.add(frame, 10)
	if got := table.bytes(); got != nil {
		t.Errorf("found % x, expected nothing", got)
	}
}

// A table of more than 16 MiB is left out: 8 bytes, 12 per entry and 9 bytes.
func TestNoSeekTableForTooManyFrames(t *testing.T) {
	t.Parallel()
	const limit = 1_398_099 // 8 + 12·limit + 9 = 16 MiB − 11
	var table seekTable
	frame := []byte("\x28\xb5\x2f\xfd, data, sum.")
	for range limit {
		table.add(frame, 10)
	}
	if found := len(table.bytes()); found != 16<<20-11 {
		t.Errorf("found a table of %d bytes, expected %d", found, 16<<20-11)
	}
	table.add(frame, 10)
	if found := len(table.bytes()); found != 0 {
		t.Errorf("found a table of %d bytes, expected none", found)
	}
}
