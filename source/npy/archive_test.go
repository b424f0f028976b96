package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

func TestArchives(t *testing.T) {
	t.Parallel()
	var archives map[string]map[string]expected
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/archives.json"))(t), &archives))
	for name, arrays := range archives {
		path := filepath.Join("testdata", name+".npz")
		names := must.Get(Arrays(nil, path))(t)
		if none := name == "unnamed"; none != (names == nil) || !none && len(names) != len(arrays) {
			t.Errorf("%s: found %q, expected %d arrays, or none if it has no name", name, names, len(arrays))
		}
		for array, want := range arrays {
			array = strings.TrimPrefix(array, map[bool]string{true: unnamed}[names == nil])
			table := must.Get(OpenArray(path, source.ReadOptions{Name: "x", Array: array}))(t)
			want.expect(t, table, name+".npz", 3)
		}
	}
	table := must.Get(OpenArray("testdata/stored.npz", source.ReadOptions{Array: "x_test"}))(t)
	must.Do(t, source.Skip(table, 1))
	if data, err := readAll(table, 10); err != nil || len(data) != 12 {
		t.Errorf("found % x, error %v", data, err)
	}
	_, err := OpenArray("testdata/stored.npz", source.ReadOptions{Array: "x"})
	if !errors.Is(err, fault.Changed) || fault.HintOf(err) == "" {
		t.Errorf("found %v, expected that the archive has changed", err)
	}
}

// pack returns a zip archive of one member, with other fields than archive/zip would write.
func pack(method uint16, content []byte, change func(*zip.FileHeader)) []byte {
	size := uint64(len(content))
	h := &zip.FileHeader{Name: "a.npy", Method: method, CRC32: crc32.ChecksumIEEE(content),
		UncompressedSize64: size, CompressedSize64: size}
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

// readArchive reads all arrays of an archive, one after another.
func readArchive(o source.ReadOptions) (found [][]byte, err error) {
	names, err := Arrays(o.Files, "x.npz")
	if err != nil {
		return nil, err
	}
	for _, o.Array = range names {
		t, err := OpenArray("x.npz", o)
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

// TestRefusedArchives has archives that NumPy or zipfile wrote, and others whose directories are
// wrong.
func TestRefusedArchives(t *testing.T) {
	t.Parallel()
	content := array("|u1", "(3, 2)", 1, 2, 3, 4, 5, 6)
	packed := func(names ...string) []byte {
		file := new(bytes.Buffer)
		z := zip.NewWriter(file)
		for _, name := range names {
			must.Get(must.Get(z.Create(name))(t).Write(content))(t)
		}
		must.Do(t, z.Close())
		return file.Bytes()
	}
	stored := func(change func(h *zip.FileHeader)) []byte { return pack(zip.Store, content, change) }
	named := func(name string) []byte { return stored(func(h *zip.FileHeader) { h.Name = name }) }
	sized := func(change func(uint64) uint64) []byte {
		return stored(func(h *zip.FileHeader) { h.UncompressedSize64 = change(h.UncompressedSize64) })
	}
	const unsupported, malformed = fault.Unsupported, fault.Malformed
	for name, c := range map[string]struct {
		file []byte // of the name in testdata if it is nil
		kind fault.Kind
		want string
	}{
		"refused-object.npz": {nil, unsupported, "x.npz: a.npy: at byte 10: found the header"},
		"refused-bzip2.npz":  {nil, malformed, "unsupported compression algorithm"},
		"refused-other.npz":  {nil, unsupported, `"readme.txt"`},
		"refused-empty.npz":  {nil, unsupported, "expected 1 to 1000"},
		"little-i2.npy":      {nil, malformed, "not a valid zip file"},

		"an archive":            {stored(nil), "", ""},
		"a long comment":        {stored(func(h *zip.FileHeader) { h.Comment = strings.Repeat("x", 1<<16-1) }), "", ""},
		"a wrong sum":           {stored(func(h *zip.FileHeader) { h.CRC32++ }), malformed, "checksum"},
		"a sum of 0":            {stored(func(h *zip.FileHeader) { h.CRC32 = 0 }), unsupported, "with checksums"},
		"more bytes than there": {sized(func(n uint64) uint64 { return n + 1 }), malformed, "expected 76"},
		"fewer bytes":           {sized(func(n uint64) uint64 { return n - 1 }), fault.Truncated, "expected 76"},
		"2⁶⁴ − 1 bytes":         {sized(func(uint64) uint64 { return 1<<64 - 1 }), malformed, "expected 76"},
		"no deflate data":       {pack(zip.Deflate, content, nil), malformed, "unexpected EOF"},
		"encrypted":             {pack(zip.Store, []byte("+J\x03"), nil), unsupported, `found "+J\x03"`},
		"no name":               {named(".npy"), unsupported, `".npy"`},
		"a name without UTF-8":  {named("\xff.npy"), unsupported, `"\xff.npy"`},
		"too many files":        {packed(make([]string, maxArrays+1)...), unsupported, "expected 1 to 1000"},
		"two of one name":       {packed("a.npy", "a.npy"), unsupported, "of different names"},
		"joined, one longer":    {append(packed("b.npy", "c.npy"), stored(nil)...), malformed, "a second file"},
		"joined, as long":       {append(stored(nil), stored(nil)...), malformed, "a second file, appended to"},
		"bytes after the end":   {append(stored(nil), 0), malformed, "found bytes after the archive, expected none"},
		"no end":                {stored(nil)[:100], malformed, "not a valid zip file"},
		"nothing":               {[]byte{}, malformed, "not a valid zip file"},
	} {
		if c.file == nil {
			c.file = must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		}
		_, err := readArchive(read(c.file))
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.want) ||
			c.kind != "" && fault.HintOf(err) == "" {
			t.Errorf("%s: found %v (%v), expected %v: %s", name, err, fault.KindOf(err), c.kind, c.want)
		}
	}
}

// TestDirectoryOfManyFiles: a sparse archive of 2 GiB that says it has 2²⁶ files, for which
// archive/zip would allocate 512 MiB, and one whose directory has no end.
func TestDirectoryOfManyFiles(t *testing.T) {
	t.Parallel()
	const size = int64(1) << 31
	order := binary.LittleEndian
	for name, files := range map[string]uint64{"2²⁶ files": 1 << 26, "2 files and a directory without an end": 2} {
		directory := bytes.Repeat([]byte("PK\x01\x02"+strings.Repeat("\x00", 42)), 1<<16)
		start := uint64(size - int64(len(directory)) - 56 - 20 - 22)
		end := start + uint64(len(directory))
		tail := append(order.AppendUint64([]byte("PK\x06\x06"), 44), make([]byte, 12)...)
		tail = order.AppendUint64(order.AppendUint64(tail, files), files)
		tail = order.AppendUint64(order.AppendUint64(tail, end-start), start)
		tail = order.AppendUint64(append(tail, "PK\x06\x07\x00\x00\x00\x00"...), end)
		tail = append(append(tail, "\x01\x00\x00\x00PK\x05\x06\x00\x00\x00\x00"...), bytes.Repeat([]byte{0xff}, 12)...)
		f := must.Get(os.Create(filepath.Join(t.TempDir(), "x.npz")))(t)
		must.Get(f.WriteAt(append(append(directory, tail...), 0, 0), int64(start)))(t)
		must.Do(t, f.Close())
		_, err := Arrays(nil, f.Name())
		if !errors.Is(err, fault.Unsupported) || !strings.Contains(fmt.Sprint(err), "expected 1 to 1000") {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

// Whatever is read, nothing panics, and errors are faults.
func FuzzArchive(f *testing.F) {
	for _, name := range must.Get(filepath.Glob("testdata/*.npz"))(f) {
		f.Add(must.Get(os.ReadFile(name))(f))
	}
	f.Add(pack(zip.Store, array("|u1", "(3, 2)", 1, 2, 3, 4, 5, 6), nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := readArchive(read(in))
		var e *fault.Error
		if err != nil && (!errors.As(err, &e) || fault.KindOf(err) == fault.Internal) {
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
		want := must.Get(readArchive(read(file)))(t)
		for n := range file {
			if _, err := readArchive(read(file[:n])); err == nil {
				t.Errorf("%s: no error for %d of %d bytes", name, n, len(file))
			}
		}
		for bit := 0; bit < 8*len(file); bit += 7 {
			file[bit/8] ^= 1 << (bit % 8)
			if found, err := readArchive(read(file)); err == nil && !slices.EqualFunc(found, want, bytes.Equal) {
				t.Errorf("%s: other values, bit %d of byte %d flipped", name, bit%8, bit/8)
			}
			file[bit/8] ^= 1 << (bit % 8)
		}
	}
}
