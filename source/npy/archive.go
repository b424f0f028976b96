package npy

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

const (
	maxArrays    = 1000    // of an archive
	maxDirectory = 1 << 20 // bytes of its directory
)

// Unnamed is the name that numpy.savez gives an array that is saved alone, without a name.
const Unnamed = "arr_0"

// Arrays returns the names of the arrays in the .npz file at path, in the order of the archive.
func Arrays(files source.Files, path string) (names []string, err error) {
	f, members, err := openArchive(files, path)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		names = append(names, strings.TrimSuffix(m.Name, ".npy"))
	}
	return names, f.Close()
}

// OpenArray opens an array of the .npz file at path as a column.
func OpenArray(path, name string, o source.ReadOptions) (source.Table, error) {
	f, members, err := openArchive(o.Files, path)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(members, func(m *zip.File) bool { return m.Name == name+".npy" })
	if i < 0 {
		return nil, errors.Join(fault.In(path, fault.Changed), f.Close()) // since Arrays listed it
	}
	t, err := openMember(members[i], path, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.column.Origin, t.file = source.Base(path), f
	return t, nil
}

// openMember opens the array in a member of the archive at path.
func openMember(m *zip.File, path string, o source.ReadOptions) (*Table, error) {
	path += ": " + m.Name
	r, err := m.Open()
	if err != nil {
		return nil, fault.In(path, archiveError(err))
	}
	t, err := newTable(&member{Reader: r, want: m.CRC32}, path, o)
	if err != nil {
		return nil, err
	}
	return t, fault.In(path, t.checkSize(int64(min(m.UncompressedSize64, math.MaxInt64))))
}

// A member reads a member of an archive and checks its checksum, because archive/zip does not check
// a checksum that is 0.
type member struct {
	io.Reader
	want, sum uint32
}

func (m *member) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.sum = crc32.Update(m.sum, crc32.IEEETable, p[:n])
	switch {
	case err == io.EOF && m.sum == m.want:
		return n, err
	case err == io.EOF:
		err = zip.ErrChecksum
	}
	return n, archiveError(err)
}

// archiveError converts an error of archive/zip to a fault. It keeps faults and errors of the file.
func archiveError(err error) error {
	var known *fault.Error
	var system *fs.PathError
	switch {
	case err == nil || errors.As(err, &known) || errors.As(err, &system):
		return err
	case errors.Is(err, zip.ErrChecksum):
		return fault.New(fault.Malformed, "the checksum of the array is wrong").WithHint(hintDamaged)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fault.New(fault.Truncated, "the zip archive ends too early").WithHint(hintDamaged)
	}
	return fault.New(fault.Malformed, "the zip archive is damaged: %v", err).Because(err).WithHint(hintDamaged)
}

// openArchive opens the .npz file at path. It returns its members, all of which are .npy files that
// can be read.
func openArchive(files source.Files, path string) (source.File, []*zip.File, error) {
	f, info, err := source.OpenFile(files, path, "a .npz file")
	if err != nil {
		return nil, nil, fault.In(path, err)
	}
	members, err := readDirectory(f, info.Size())
	if err != nil {
		return nil, nil, errors.Join(fault.In(path, err), f.Close())
	}
	return f, members, nil
}

// readDirectory returns the members of an archive of size bytes.
func readDirectory(r io.ReaderAt, size int64) ([]*zip.File, error) {
	var start [8]byte
	if n, err := r.ReadAt(start[:], 0); err != nil && err != io.EOF {
		return nil, err
	} else if !strings.HasPrefix(string(start[:n]), "PK") {
		return nil, formatError(start[:n], "a .npz file", "PK")
	}
	d := &directory{ReaderAt: r, left: maxDirectory}
	z, err := zip.NewReader(d, size)
	switch {
	case errors.Is(err, zip.ErrFormat):
		return nil, fault.New(fault.Truncated, "the zip archive has no directory at its end").WithHint(hintDamaged)
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // names are not used as paths here
		return nil, archiveError(err)
	case len(z.File) == 0:
		return nil, fault.New(fault.Unsupported, "the archive is empty, expected .npy files").
			WithHint("save it again with numpy.savez")
	case len(z.File) > maxArrays:
		return nil, errMany
	}
	d.read = true
	seen := map[string]bool{}
	for _, m := range z.File {
		if err := checkMember(m); err != nil {
			return nil, err
		}
		if seen[m.Name] {
			return nil, fault.New(fault.Malformed, "found two files named %s in the archive", m.Name).
				WithHint("save the arrays again, under different names")
		}
		seen[m.Name] = true
	}
	return z.File, nil
}

// checkMember returns an error for a member that cannot be read as an array.
func checkMember(m *zip.File) error {
	const encrypted = 1<<0 | 1<<6 | 1<<13 // flags of section 4.4.4 of APPNOTE.TXT
	unsupported := func(format string, args ...any) error {
		return fault.New(fault.Unsupported, format, args...).
			WithHint("unpack the archive with another program, such as unzip, and convert the .npy files")
	}
	name, ok := strings.CutSuffix(m.Name, ".npy")
	switch {
	case !ok || name == "" || !utf8.ValidString(name):
		return unsupported("found %q in the archive, expected only .npy files", m.Name)
	case m.Flags&encrypted != 0:
		return unsupported("%s is encrypted", m.Name)
	case m.Method != zip.Store && m.Method != zip.Deflate:
		return unsupported("%s is compressed by method %d of ZIP, expected 0 or 8 (stored or deflated)",
			m.Name, m.Method)
	}
	return nil
}

var errMany = fault.New(fault.Unsupported, "the archive has more than %d files, or a directory of more than %d bytes",
	maxArrays, maxDirectory).WithHint("save the arrays in several files")

// A directory is an archive as archive/zip reads its directory, within a limit of memory:
// archive/zip allocates by the size of the directory and, for a large archive, by the number of
// files that it says it has. That number is in a record of 56 bytes (section 4.3.14 of APPNOTE.TXT,
// the specification of ZIP).
type directory struct {
	io.ReaderAt
	left int  // bytes that may be read
	read bool // the directory has been read
}

func (d *directory) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 { // offsets in the archive may have any value
		return 0, zip.ErrFormat
	}
	n, err := d.ReaderAt.ReadAt(p, offset)
	if d.read {
		return n, err
	}
	large := n == 56 && strings.HasPrefix(string(p), "PK\x06\x06")
	if d.left -= n; d.left < 0 || large && binary.LittleEndian.Uint64(p[32:]) > maxArrays {
		return 0, errMany
	}
	return n, err
}
