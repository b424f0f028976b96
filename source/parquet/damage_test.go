package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/layout"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// footerStart is where the footer of file begins.
func footerStart(file []byte) int {
	return len(file) - tailSize - int(binary.LittleEndian.Uint32(file[len(file)-tailSize:]))
}

// read opens and reads file; every error must be one about the file's contents, and not about a panic that was caught.
func read(tb testing.TB, file []byte, rows int) ([][]byte, error) {
	tb.Helper()
	t, err := fromBytes(file, source.ReadOptions{MaxRecordSize: 1 << 20, DType: idx.Uint8})
	var data [][]byte
	if err == nil {
		data, err = readAll(t, rows)
	}
	if err != nil && (fault.KindOf(err) == fault.Internal || !strings.HasPrefix(err.Error(), "test.parquet: ")) {
		tb.Fatalf("found the error %q, expected one of a kind with the file's name", err)
	}
	if err != nil && strings.Contains(err.Error(), "cannot be decoded: ") {
		tb.Errorf("found the error %q, expected no panic", err)
	}
	return data, err
}

// TestDamage flips each bit of a byte in turn, and cuts a file at each byte. What is read without an error is what was written, unless the footer, which has
// no checksum, is what was damaged.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, name := range layout.Names() {
		for _, codec := range []string{"none", "zstd", "lz4_raw"} {
			t.Run(name+" "+codec, func(t *testing.T) {
				t.Parallel()
				table := layouttest.Random(20, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 3}}, source.Column{Name: "label", DType: idx.Uint8})
				file := written(t, table, sinkparquet.Options{Layout: name, Compression: codec}, 8)
				end := footerStart(file)
				for at := range file {
					bit := byte(1) << (at % 8)
					if name == "columns" && at%3 != 0 && at < end {
						continue // many pages of the same kind
					}
					file[at] ^= bit
					data, err := read(t, file, 8)
					file[at] ^= bit
					if err != nil || at >= end {
						continue
					}
					for i := range data {
						if !bytes.Equal(data[i], table.Data[i]) {
							t.Fatalf("byte %d of %d: column %d has other values, and there is no error", at, len(file), i)
						}
					}
				}
				for n := range file {
					if _, err := read(t, file[:n], 8); err == nil {
						t.Fatalf("found no error for %d bytes of %d", n, len(file))
					}
				}
			})
		}
	}
}

// TestClaims opens small files that claim to be large.
func TestClaims(t *testing.T) {
	t.Parallel()
	file := written(t, small(), sinkparquet.Options{Compression: "none"}, 8)
	end := len(file) - tailSize
	for _, n := range []uint32{0, 1, uint32(end), uint32(end) - 4, 1 << 31, 1<<32 - 1} {
		claim := bytes.Clone(file)
		binary.LittleEndian.PutUint32(claim[end:], n)
		if _, err := read(t, claim, 8); err == nil || !errors.Is(err, fault.Malformed) {
			t.Errorf("a footer of %d bytes: found the error %v", n, err)
		}
	}
	if err := checkPageSize(100, maxPage); err == nil {
		t.Error("found no error for a page of 100 bytes that claims to be 1 GiB")
	}
	lists := append([]byte{0x29, 0xfc}, binary.AppendUvarint(nil, 1<<31)...) // a schema of 2³¹ elements
	c := compact{data: lists}
	if err := c.skip(compactStruct, 0, false); err == nil {
		t.Error("found no error for a list that is longer than its bytes")
	}
}

// FuzzRead reads anything, as far as the first rows.
func FuzzRead(f *testing.F) {
	table := layouttest.Random(9, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 3}}, source.Column{Name: "label", DType: idx.Uint8})
	for _, name := range layout.Names() {
		f.Add(written(f, table, sinkparquet.Options{Layout: name, Compression: "none"}, 8))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := fromBytes(file, source.ReadOptions{MaxRecordSize: 1 << 16, DType: idx.Uint8})
		defer func() {
			if err != nil && strings.Contains(err.Error(), "cannot be decoded: ") {
				t.Errorf("found the error %q, expected no panic", err)
			}
		}()
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				t.Fatalf("found the error %q, expected one of a kind", err)
			}
			return
		}
		b := &source.Raw{Cap: 16}
		for range 20 {
			if err = got.Read(t.Context(), b); err == nil {
				err = got.Decode(b)
			}
			if err != nil {
				return
			}
		}
		if s, ok := got.(source.Seeker); ok && got.Rows() > 1000 {
			_ = s.Skip(500) // damage is an error, which may come here
		}
	})
}
