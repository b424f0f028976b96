package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// The end may be read into a batch that was never used before.
func TestEndInAFreshBatch(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 3}, bytesUpTo(12)) // four of nine rows
	table := open(t, write(t, "images.gz", gzipped(t, raw)), Options{Salvage: true})
	if err := table.Read(context.Background(), &Raw{Cap: 10}); err != nil {
		t.Fatal(err)
	}
	if err := table.Read(context.Background(), &Raw{Cap: 10}); err != io.EOF {
		t.Errorf("found %v, expected the end", err)
	}
	if len(table.Notes()) != 1 {
		t.Errorf("found notes %q", table.Notes())
	}
}

func TestShortestKeepsTheNotesOfItsParts(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 3}, bytesUpTo(12))
	images := open(t, write(t, "images.gz", gzipped(t, raw)), Options{Name: "image", Salvage: true})
	table, err := Join(true, images, scalars(t, "label", 9))
	if err != nil {
		t.Fatal(err)
	}
	check(t, table, 10, 0, bytesUpTo(12), bytesUpTo(4))
	if notes := strings.Join(Notes(table), "\n"); !strings.Contains(notes, "truncated: 12 of 27 bytes") {
		t.Errorf("found notes %q, expected what the salvage of the images found", notes)
	}
}

// The rows that are known are known in the error too, and an end does not set First.
func TestCountsOfTheError(t *testing.T) {
	t.Parallel()
	part, err := Slice(scalars(t, "part", 10), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Join(false, scalars(t, "image", 9), plain{part, true})
	if err == nil {
		_, err = readAll(table, 2)
	}
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "image (image.idx) has 9, part (part.idx) has 4") {
		t.Errorf("found %v, expected 9 and 4 rows", err)
	}
}

func TestSliceBeyondAnUnknownEnd(t *testing.T) {
	t.Parallel()
	for _, first := range []int64{9, 10, 11, 100} {
		table, err := Slice(plain{scalars(t, "label", 10), true}, first, 120)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := readAll(table, 3); !errors.Is(err, fault.Usage) || c.rows > 1 {
			t.Errorf("from row %d of 10: found %d rows, %v, expected fault.Usage", first, c.rows, err)
		}
	}
}

// A second frame that is refused, after more data than is read ahead. Not parallel: it counts goroutines.
func TestFailedCountLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	frames := zstandard(t, file(t, idx.Uint8, []int{8 << 20}, make([]byte, 4<<20)))
	refused := bytes.Clone([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0, 0, 0, 0, 0}) // a window of 1 GiB
	table, err := OpenIDX(write(t, "big.zst", append(frames, refused...)), Options{Salvage: true})
	if table != nil || !errors.Is(err, fault.Unsupported) {
		t.Fatalf("found %v, expected ErrUnsupported", err)
	}
	for range 50 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("found %d goroutines, %d before", runtime.NumGoroutine(), before)
}
