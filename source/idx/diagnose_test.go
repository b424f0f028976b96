package idx

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
)

// The errors name the formats that users take for IDX, whose specifications have these bytes.
func TestForeignFormats(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ head, message, hints string }{
		"gzip":            {"\x1f\x8b\x08\x08", "found a gzip file, expected", "gunzip"},
		"zip":             {"PK\x03\x04\x14\x00", "a zip archive", "unpack"},
		"Parquet":         {"PAR1\x15\x04", "a Parquet file", ""},
		"Arrow":           {"ARROW1\x00\x00", "an Arrow IPC file", ""},
		"numpy":           {"\x93NUMPY\x01\x00v\x00{'descr': '|u1'", "a numpy .npy file", ""},
		"PNG":             {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image", ""},
		"JPEG":            {"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image", ""},
		"tar":             {"label.txt" + strings.Repeat("\x00", 248) + "ustar\x0000", "a tar archive", "tar -xf"},
		"pickle":          {"\x80\x03](K", "a Python pickle", "another format first"},
		"MATLAB":          {"MATLAB 5.0 MAT-file", "a MATLAB file", "another format first"},
		"HDF5":            {"\x89HDF\r\n\x1a\n", "an HDF5 file", ""},
		"Git LFS":         {"version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer", "git lfs pull"},
		"HTML after BOM":  {"\xef\xbb\xbf<!DOCTYPE html>", "an HTML or XML page", "download it again"},
		"Azure's error":   {"<Error><Code>BlobNotFound", "an HTML or XML page", "download it again"},
		"other NORB type": {"\x56\x4c\x3d\x1e\x04\x00\x00\x00", "a NORB", "another format"},
		"gzip in UTF-16":  {"\xff\xfe\x1f\x00\xfd\xff", "found a gzip file in UTF-16, expected", "as binary"},
		"LZ4":             {"\x04\x22\x4d\x18\x64\x40\xa7", "found an LZ4 file, expected", "lz4 -d"},
		"LZMA":            {"\x5d\x00\x00\x80\x00\xff", "found an LZMA file, expected", "xz -d"},
		"gzip in UTF-8":   {"\x1f\xef\xbf\xbd\x08", "a gzip file after a transfer as text", "as binary"},
		"UTF-16 text":     {"l\x00a\x00", "6c 00 61 00", "two zero bytes"},
		"no dimensions":   {"\x00\x08\x00\x00", "found 00 08 00 00, expected an IDX file", "two zero bytes"},
		"shifted bytes":   {"\x00\x08\x08\x01", "found 00 08 08 01, expected an IDX file", "two zero bytes"},
		"a euro sign":     {"\x80uro,a", "found text, such as CSV, expected an IDX file", "FILE.csv"},
		"CSV":             {"label,pixel0,pixel1", "found text, such as CSV, expected an IDX file", "FILE.csv"},
		"LIBSVM":          {"5 153:3 154:18\n", "found text, such as CSV, expected an IDX file", "arrays as .npy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := test.head + strings.Repeat("x", 10_000) // more bytes than are examined
			for _, in := range []string{test.head, long} {
				_, err := ReadHeader(iotest.OneByteReader(strings.NewReader(in)))
				checkFault(t, err, fault.Unsupported, 0, test.message, test.hints)
				if !errors.Is(err, ErrMagic) {
					t.Errorf("found %v, expected ErrMagic", err)
				}
			}
		})
	}
}

// A file of another format is refused even if reading beyond its magic number fails.
func TestForeignFormatBeforeAFailure(t *testing.T) {
	t.Parallel()
	_, err := ReadHeader(&failing{data: []byte("PAR1"), err: errors.New("disk on fire")})
	if !errors.Is(err, ErrMagic) {
		t.Errorf("found %v, expected ErrMagic", err)
	}
}

// ReadHeader must not read the bytes after the header: they belong to the caller.
func TestReadHeaderStopsAfterHeader(t *testing.T) {
	t.Parallel()
	in := bytes.NewReader(images(t, 1, 1))
	h, err := ReadHeader(in)
	if err != nil || in.Len() != 6 || len(h.RecordShape()) != 2 || h.RecordShape()[1] != 3 {
		t.Errorf("found %v, %d bytes left, %v, expected 6", h, in.Len(), err)
	}
}
