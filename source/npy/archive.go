package npy

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
)

const unnamed = "arr_0" // what numpy.savez calls an array that is saved alone, without a name
const archive = "a .npz file"
const maxArrays = 1000       // of an archive
const maxDirectory = 1 << 20 // bytes of its directory

// Arrays returns the names of the arrays in a .npz file, in order, or none for one without a name.
func Arrays(files source.Files, path string) ([]string, error) {
	return source.OpenFile(files, path, archive, func(f source.File, info fs.FileInfo) (names []string, err error) {
		z, err := readDirectory(f, info.Size())
		if err != nil {
			return nil, err
		}
		for _, m := range z.File {
			if name := strings.TrimSuffix(m.Name, ".npy"); len(z.File) > 1 || name != unnamed {
				names = append(names, name)
			}
		}
		return names, f.Close()
	})
}

// OpenArray opens the array o.Array of the .npz file at path as a column; none is the unnamed one.
func OpenArray(path string, o source.ReadOptions) (source.Table, error) {
	return source.OpenFile(o.Files, path, archive, func(f source.File, info fs.FileInfo) (source.Table, error) {
		z, err := readDirectory(f, info.Size())
		if err != nil {
			return nil, err
		}
		name := cmp.Or(o.Array, unnamed) + ".npy"
		i := slices.IndexFunc(z.File, func(m *zip.File) bool { return m.Name == name })
		if i < 0 {
			return nil, fault.ChangedIn("") // since Arrays listed it
		}
		m := z.File[i]
		z.File = nil // m refers to z: frees the memory of the other members
		r, err := m.Open()
		if err != nil {
			return nil, unreadable(err)
		}
		part := ": " + m.Name
		t, err := newTable(f, path, part, member{r}, int64(min(m.UncompressedSize64, math.MaxInt64)), o)
		return t, fault.In(path+part, err)
	})
}

// A member reads a member of an archive, whose checksum archive/zip verifies.
type member struct{ io.Reader }

func (m member) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != io.EOF {
		err = unreadable(err)
	}
	return n, err
}

// unreadable returns the fault for an error of archive/zip. It keeps errors of the file.
func unreadable(err error) error {
	if err == nil || errors.As(err, new(*fault.Error)) || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return fault.New(fault.Malformed, "the zip archive cannot be read: %v", err).Because(err).
		WithHint("the file is damaged, incomplete, a web page or a Git LFS pointer, or needs a program such as unzip")
}

var errCount = fault.New(fault.Unsupported, "found no files or too many in the archive, expected 1 to %d, listed in "+
	"at most %d bytes", maxArrays, maxDirectory).WithHint("save the arrays with numpy.savez, or in several files")

// readDirectory reads the directory of a .npz file of size bytes. Checksums of 0 are not verified.
func readDirectory(f source.File, size int64) (*zip.Reader, error) {
	d := &directory{io.NewSectionReader(f, 0, size), maxDirectory}
	z, err := zip.NewReader(d, size)
	if err == nil && (len(z.File) == 0 || len(z.File) > maxArrays) {
		err = errCount
	}
	if err != nil {
		return nil, unreadable(err)
	}
	d.left = math.MaxInt64                                       // for the arrays
	last, end := make([]byte, 22), size-22-int64(len(z.Comment)) // the last record: APPNOTE.TXT, 4.3.16
	if _, err = f.ReadAt(last, end); err == nil && string(last[:4]) != "PK\x05\x06" {
		err = fault.New(fault.Malformed, "found bytes after the archive, expected none").WithHint(hintAgain)
	}
	length, before := binary.LittleEndian.Uint32(last[12:]), binary.LittleEndian.Uint32(last[16:]) // of the directory
	if err = cmp.Or(err, source.CheckAlone(f, "", "PK\x03\x04", end-int64(length)-int64(before))); err != nil {
		return nil, unreadable(err)
	}
	for i, m := range z.File {
		again := slices.ContainsFunc(z.File[:i], func(other *zip.File) bool { return other.Name == m.Name })
		name, ok := strings.CutSuffix(m.Name, ".npy")
		if again || !ok || name == "" || !utf8.ValidString(name) || m.CRC32 == 0 {
			return nil, fault.New(fault.Unsupported, "found %q, expected .npy files of different names, with checksums",
				m.Name).WithHint("unpack the archive, and convert the .npy files")
		}
	}
	return z, nil
}

// A directory limits how much archive/zip reads of the directory of an archive, and the number of
// files in a record of 56 bytes (APPNOTE.TXT, 4.3.14), for which it allocates memory at once.
type directory struct {
	io.ReaderAt
	left int64 // bytes that may be read
}

func (d *directory) ReadAt(p []byte, offset int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, offset)
	d.left -= int64(n)
	large := n == 56 && d.left < maxDirectory && strings.HasPrefix(string(p), "PK\x06\x06")
	if d.left < 0 || large && binary.LittleEndian.Uint64(p[32:]) > maxArrays {
		return 0, errCount
	}
	return n, err
}
