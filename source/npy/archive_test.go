package npy

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// TestArchives reads what NumPy wrote: see testdata/make.py.
func TestArchives(t *testing.T) {
	t.Parallel()
	var archives map[string]map[string]struct {
		DType  string
		Shape  []int
		SHA256 string
	}
	if err := json.Unmarshal(must.Get(os.ReadFile("testdata/archives.json"))(t), &archives); err != nil || len(archives) < 6 {
		t.Fatal(err, len(archives))
	}
	for name, arrays := range archives {
		path := filepath.Join("testdata", name+".npz")
		names := must.Get(Arrays(nil, path))(t)
		if len(names) != len(arrays) {
			t.Errorf("%s: found %q, expected %d arrays", name, names, len(arrays))
		}
		for _, array := range names {
			want := arrays[array]
			for _, limit := range []int{1, 3, 100} {
				table := must.Get(OpenArray(path, array, source.ReadOptions{Name: "x"}))(t)
				c := table.Columns()[0]
				if c.Name != "x" || c.Origin != name+".npz" || c.DType.String() != want.DType || !slices.Equal(c.Shape, want.Shape[1:]) || table.Rows() != int64(want.Shape[0]) {
					t.Errorf("%s, %s: found %+v, %d rows, expected %+v", name, array, c, table.Rows(), want)
				}
				data, err := readAll(table, limit)
				if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != want.SHA256 {
					t.Errorf("%s, %s: found other values (%d bytes), error %v", name, array, len(data), err)
				}
				must.Do(t, table.Close())
			}
		}
	}
	table := must.Get(OpenArray("testdata/stored.npz", "x_test", source.ReadOptions{}))(t)
	b := &source.Raw{Cap: 10}
	if err := errors.Join(source.Skip(table, 1), table.Read(t.Context(), b), table.Decode(b)); err != nil || b.Rows != 1 || len(b.Columns[0]) != 12 {
		t.Errorf("found %d rows of %v, error %v", b.Rows, b.Columns, err)
	}
	must.Do(t, table.Close())
	if _, err := OpenArray("testdata/stored.npz", "x", source.ReadOptions{}); !errors.Is(err, fault.Changed) {
		t.Errorf("found %v, expected that the archive has changed", err)
	}
}

func TestRefusedArchives(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind fault.Kind
		text string
	}{
		"refused-object.npz": {fault.Unsupported, "a.npy: at byte 10: found the type \"|O\", pickled Python objects"},
		"refused-text.npz":   {fault.Unsupported, `"<U2"`},
		"refused-bzip2.npz":  {fault.Unsupported, "a.npy is compressed by method 12"},
		"refused-same.npz":   {fault.Malformed, "two files named a.npy"},
		"refused-other.npz":  {fault.Unsupported, `"readme.txt"`},
		"refused-empty.npz":  {fault.Unsupported, "empty"},
		"little-i2.npy":      {fault.Unsupported, "found 93 4e 55 4d 50 59, expected 50 4b, with which a .npz file begins"},
	} {
		path := filepath.Join("testdata", name)
		names, err := Arrays(nil, path)
		if err == nil {
			_, err = OpenArray(path, names[0], source.ReadOptions{})
		}
		if fault.KindOf(err) != test.kind || !strings.Contains(fmt.Sprint(err), test.text) || fault.HintOf(err) == "" || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: found %v (hint %q), expected %v: %s", name, err, fault.HintOf(err), test.kind, test.text)
		}
	}
}

// pack returns a zip archive of one member, with other fields than archive/zip would write.
func pack(method uint16, content []byte, change func(*zip.FileHeader)) []byte {
	h := &zip.FileHeader{Name: "a.npy", Method: method, CRC32: crc32.ChecksumIEEE(content), UncompressedSize64: uint64(len(content)), CompressedSize64: uint64(len(content))}
	if change != nil {
		change(h)
	}
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	w, err := z.CreateRaw(h)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// readArchive reads all arrays of an archive in memory, one after another.
func readArchive(file []byte) (found [][]byte, err error) {
	members, err := readDirectory(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		t, err := openMember(m, "x.npz", source.ReadOptions{MaxRecordSize: 1 << 12})
		if err != nil {
			return nil, err
		}
		data, err := readAll(t, 3)
		if err != nil {
			return nil, err
		}
		found = append(found, data)
	}
	return found, nil
}

// TestHostileArchives has archives whose directories are wrong.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	content := array("|u1", "(3, 2)", 6)
	if found, err := readArchive(pack(zip.Store, content, nil)); err != nil || len(found) != 1 || len(found[0]) != 6 {
		t.Fatalf("found %v, error %v", found, err)
	}
	other := crc32.ChecksumIEEE(content) + 1
	many := new(bytes.Buffer)
	z := zip.NewWriter(many)
	for i := range maxArrays + 1 {
		must.Get(z.Create(fmt.Sprint(i, ".npy")))(t)
	}
	must.Do(t, z.Close())
	for name, c := range map[string]struct {
		file []byte
		kind fault.Kind
		want string
	}{
		"a wrong sum":             {pack(zip.Store, content, func(h *zip.FileHeader) { h.CRC32 = other }), fault.Malformed, "checksum"},
		"a sum of 0":              {pack(zip.Store, content, func(h *zip.FileHeader) { h.CRC32 = 0 }), fault.Malformed, "checksum"},
		"more bytes than there":   {pack(zip.Store, content, func(h *zip.FileHeader) { h.UncompressedSize64++ }), fault.Malformed, "found 1 extra byte after the end: the header says "},
		"fewer bytes":             {pack(zip.Store, content, func(h *zip.FileHeader) { h.UncompressedSize64-- }), fault.Truncated, "truncated"},
		"no deflate data":         {pack(zip.Deflate, content, nil), fault.Truncated, "ends too early"},
		"encrypted":               {pack(zip.Store, content, func(h *zip.FileHeader) { h.Flags |= 1 }), fault.Unsupported, "encrypted"},
		"strongly encrypted":      {pack(zip.Store, content, func(h *zip.FileHeader) { h.Flags |= 1 << 6 }), fault.Unsupported, "encrypted"},
		"Deflate64":               {pack(9, content, nil), fault.Unsupported, "method 9"},
		"a folder":                {pack(zip.Store, nil, func(h *zip.FileHeader) { h.Name = "a/" }), fault.Unsupported, `"a/"`},
		"no name":                 {pack(zip.Store, content, func(h *zip.FileHeader) { h.Name = ".npy" }), fault.Unsupported, `".npy"`},
		"a name that is no UTF-8": {pack(zip.Store, content, func(h *zip.FileHeader) { h.Name = "\xff.npy" }), fault.Unsupported, `"\xff.npy"`},
		"2⁶⁴ − 1 bytes":           {pack(zip.Store, content, func(h *zip.FileHeader) { h.UncompressedSize64 = 1<<64 - 1 }), fault.Malformed, "extra bytes after the end"},
		"too many files":          {many.Bytes(), fault.Unsupported, "more than 1000 files"},
		"a long comment":          {pack(zip.Store, content, func(h *zip.FileHeader) { h.Comment = strings.Repeat("x", 1<<16-1) }), 0, ""},
		"no end":                  {pack(zip.Store, content, nil)[:100], fault.Truncated, "no directory at its end"},
		"nothing":                 {nil, fault.Truncated, "the file is empty"},
		"a byte":                  {[]byte("a"), fault.Unsupported, "found 61, expected 50 4b"},
	} {
		_, err := readArchive(c.file)
		if c.kind == 0 && err != nil || c.kind != 0 && (fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.want)) {
			t.Errorf("%s: found %v (%v), expected %v: %s", name, err, fault.KindOf(err), c.kind, c.want)
		}
	}
}

// A sparse is a file of size bytes that ends with tail, after zeros.
type sparse struct {
	size int64
	tail []byte
}

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at == 0 {
		copy(p, "PK\x03\x04")
	}
	start := s.size - int64(len(s.tail))
	for i := range p {
		if k := at + int64(i) - start; k >= 0 && k < int64(len(s.tail)) {
			p[i] = s.tail[k]
		}
	}
	if at+int64(len(p)) > s.size {
		return int(max(0, s.size-at)), io.EOF
	}
	return len(p), nil
}

// TestDirectoryOfManyFiles: an archive of a terabyte that says it has 2³⁰ files, for which
// archive/zip would allocate 8 GiB, and one whose directory has no end.
func TestDirectoryOfManyFiles(t *testing.T) {
	t.Parallel()
	const size = int64(1) << 40
	order := binary.LittleEndian
	for name, files := range map[string]uint64{"2³⁰ files": 1 << 30, "2 files and a directory without an end": 2} {
		directory := bytes.Repeat([]byte("PK\x01\x02"+strings.Repeat("\x00", 42)), 1<<16)
		start := uint64(size - int64(len(directory)) - 56 - 20 - 22)
		end := start + uint64(len(directory))
		tail := append(order.AppendUint64([]byte("PK\x06\x06"), 44), make([]byte, 12)...)
		tail = order.AppendUint64(order.AppendUint64(tail, files), files)
		tail = order.AppendUint64(order.AppendUint64(tail, end-start), start)
		tail = order.AppendUint64(append(tail, "PK\x06\x07\x00\x00\x00\x00"...), end)
		tail = append(tail, "\x01\x00\x00\x00PK\x05\x06\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00"...)
		tail = append(directory, tail...)
		if _, err := readDirectory(sparse{size, tail}, size); !errors.Is(err, fault.Unsupported) || !strings.Contains(fmt.Sprint(err), "more than 1000 files") {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

// Whatever is read, nothing panics, and errors are faults.
func FuzzArchive(f *testing.F) {
	names := must.Get(filepath.Glob("testdata/*.npz"))(f)
	for _, name := range names {
		f.Add(must.Get(os.ReadFile(name))(f))
	}
	f.Add(pack(zip.Store, array("|u1", "(3, 2)", 6), nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := readArchive(in)
		var e *fault.Error
		if err != nil && (!errors.As(err, &e) || fault.KindOf(err) == 0 || fault.KindOf(err) == fault.Internal) {
			t.Fatalf("found %v, expected a fault", err)
		}
	})
}

// TestDamagedArchive cuts an archive at every byte and flips bits of every byte: it is refused, or
// its arrays are the same.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"keras", "stored"} {
		file := must.Get(os.ReadFile("testdata/" + name + ".npz"))(t)
		want := must.Get(readArchive(file))(t)
		for n := range file {
			if _, err := readArchive(file[:n]); err == nil {
				t.Errorf("%s: no error for %d of %d bytes", name, n, len(file))
			}
		}
		for bit := 0; bit < 8*len(file); bit += 7 {
			file[bit/8] ^= 1 << (bit % 8)
			if found, err := readArchive(file); err == nil && !slices.EqualFunc(found, want, bytes.Equal) {
				t.Errorf("%s: other values, bit %d of byte %d flipped", name, bit%8, bit/8)
			}
			file[bit/8] ^= 1 << (bit % 8)
		}
	}
}
