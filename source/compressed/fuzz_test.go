package compressed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// FuzzReader looks for panics, hangs, unexpected errors, and, for gzip, data that differs from the
// standard library's.
func FuzzReader(f *testing.F) {
	for _, file := range goodFiles {
		f.Add(testFile(f, file.name))
	}
	for _, h := range hostile {
		f.Add([]byte(h.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const enough = 4 << 20
		r := must.Get(NewReader(bytes.NewReader(raw)))(t)
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, enough))
		if err != nil && !tellsDamage(err, r.Format(), len(raw)) {
			t.Fatalf("found %v", err)
		}
		if r.Format() != Gzip || err != nil || len(data) == enough {
			return
		}
		reference, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("read without an error what compress/gzip refuses: %v", err)
		}
		want := make([]byte, len(data))
		if n, _ := io.ReadFull(reference, want); !bytes.Equal(data, want[:n]) {
			t.Fatal("the data differs from that of compress/gzip")
		}
	})
}

// FuzzSeekReader looks for panics, hangs, unexpected errors, and data that differs from what is
// read without the table: in the whole file, where the steps lead (see seekSteps) and from there
// on, and if the reader is closed in between.
func FuzzSeekReader(f *testing.F) {
	for _, file := range seekableFiles {
		f.Add(testFile(f, file.name), []byte("\x00\x64\x03\x05\x02\x00\x01\xff\x03\x10"))
	}
	f.Add([]byte(stored("abc")+stored("a")+seekTable(2, 0, 12, 3, 10, 1)), []byte("\x03\x02\x01\x03\x03\x01\x02\x00"))
	f.Fuzz(func(t *testing.T, raw, steps []byte) {
		const enough = 4 << 20
		table, err := FindSeekTable(bytes.NewReader(raw), int64(len(raw)))
		if err != nil && !tellsDamage(err, Zstd, len(raw)) {
			t.Fatalf("found %v", err)
		}
		if table == nil {
			return
		}
		whole := NewSeekReader(bytes.NewReader(raw), table)
		defer whole.Close()
		data, err := io.ReadAll(io.LimitReader(whole, enough))
		if err != nil && !tellsDamage(err, Zstd, len(raw)) {
			t.Fatalf("found %v", err)
		}
		if len(data) == enough {
			return
		}
		good := err == nil
		if want, _, err := decompress(raw); good && (err != nil || !bytes.Equal(data, want) || table.Size() != int64(len(data))) {
			t.Fatalf("found %d bytes, a table for %d and, without it, %d and %v", len(data), table.Size(), len(want), err)
		}
		r := NewSeekReader(bytes.NewReader(raw), table)
		defer r.Close()
		at, err := seekSteps(r, data, good, steps)
		if err != nil && (good || !tellsDamage(err, Zstd, len(raw))) {
			t.Fatalf("after steps to byte %d: %v", at, err)
		}
		if !good {
			return
		}
		go r.Close()
		if rest, err := io.ReadAll(r); err != nil && err != fs.ErrClosed || !bytes.HasPrefix(data[at:], rest) || err == nil && len(rest) < len(data[at:]) {
			t.Fatalf("closed while reading on from byte %d: found %d bytes and %v", at, len(rest), err)
		}
	})
}

// seekSteps executes pairs of bytes on r: the first byte is an operation, the second a distance. It
// returns the final offset, and the first error or the difference from data. If good is false, only
// errors count.
func seekSteps(r *SeekReader, data []byte, good bool, steps []byte) (at int64, err error) {
	for ; len(steps) >= 2; steps = steps[2:] {
		n := int64(steps[1])
		switch steps[0] % 4 {
		case 0:
			r.ReadAhead(n * r.table.Size() / 255)
		case 1:
			at, err = r.Seek(n*r.table.Size()/255, io.SeekStart)
		case 2:
			err = r.Finish()
		default:
			var found []byte
			found, err = io.ReadAll(io.LimitReader(r, n))
			if good && err == nil && !bytes.Equal(found, data[at:min(at+n, int64(len(data)))]) {
				err = fmt.Errorf("found %d other bytes at byte %d", len(found), at)
			}
			at += int64(len(found))
		}
		if err != nil {
			break
		}
	}
	return at, err
}
