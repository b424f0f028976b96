package idx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/idxport/idxport/fault"
)

// ErrMagic is the cause of the error for a file that does not begin like an IDX file: it has
// another format, or is damaged.
var ErrMagic = errors.New("not an IDX file")

const (
	hintDownload = "the file is incomplete: download or write it again"
	hintHeader   = "the header is damaged, or this is not an IDX file"
	hintNoBytes  = "the header is damaged: with a dimension of 0, records have no bytes"
	hintFile     = "this format cannot be read from a pipe or a compressed file; save or decompress it to a file, then: idxport convert FILE"
	hintUnfilled = "the number of records was never filled in; read the records that are there with --salvage"
	hintArray    = "save the array in another format first, such as .npy"
)

// HintSalvage is the end of the hint for an incomplete file that may have complete records.
const HintSalvage = ", or read the complete records with --salvage"

// lookAhead is the number of bytes that are read to detect the format of a file that is not IDX.
const lookAhead = 512

// foreignFormats are formats that users mistake for IDX, recognised by their first bytes.
var foreignFormats = []struct{ name, prefix, hint string }{
	{"a gzip file inside another compressed file", "\x1f\x8b", "decompress it once, then convert the result"},
	{"a zip archive", "PK\x03\x04", "if it is a .npz file, save it as FILE.npz; otherwise unpack it and convert the files in it"},
	{"a Parquet file", "PAR1", hintFile + ".parquet -o OUT"},
	{"an Arrow IPC file", "ARROW1", hintFile + ".arrow -o OUT"},
	{"a numpy .npy file", "\x93NUMPY", hintFile + ".npy -o OUT"},
	{"a PNG image", "\x89PNG", "give the folder of the images instead of a file: idxport convert FOLDER -o OUT"},
	{"a JPEG image", "\xff\xd8\xff", "convert the images to PNG, then give their folder: idxport convert FOLDER -o OUT"},
	{"a PDF file", "%PDF", ""},
	{"a MATLAB file", "MATLAB", hintArray},
	{"an HDF5 file", "\x89HDF", hintArray},
	{"a Git LFS pointer", "version https://git-lfs", "fetch the real file with git lfs pull"},
}

// lushMatrix reports whether m begins one of NORB's matrices (NYU, also from Lush's save-matrix).
// They begin with a magic number, in either byte order, that names the element type: 0x1e3d4c51
// float, 52 packed, 53 double, 54 int, 55 byte, 56 short.
// https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/
func lushMatrix(m []byte) bool {
	magic := func(v uint32) bool { return v >= 0x1e3d4c51 && v <= 0x1e3d4c56 }
	return len(m) >= 4 && (magic(binary.LittleEndian.Uint32(m)) || magic(binary.BigEndian.Uint32(m)))
}

// tarMagicAt is the offset of the word ustar in a tar archive of POSIX or GNU.
const tarMagicAt = 257

// littleMagic reports whether m is a magic number in little-endian order, such as 03 08 00 00.
func littleMagic(m [4]byte) bool { return m[3] == 0 && m[2] == 0 && DType(m[1]).Valid() && m[0] > 0 }

// checkMagic accepts 00 00, a data type, and a rank of at least 1. For anything else, it returns an
// error that says what was found instead, for which it may read more of r.
func checkMagic(m [4]byte, r io.Reader) error {
	if m[0] == 0 && m[1] == 0 && DType(m[2]).Valid() && m[3] > 0 {
		return nil
	}
	switch {
	case littleMagic(m):
		hint := "read it with --byte-order little"
		if DType(m[1]).Size() > 1 {
			hint = "if its data is little-endian too, " + hint
		}
		return fault.New(fault.Malformed, "the header is little-endian: found % x, expected 00 00 %02x %02x", m[:], m[1], m[0]).
			At(0).WithHint("%s", hint).Because(ErrMagic)
	case m[0] == 0 && m[1] == 0 && DType(m[2]).Valid():
		return fault.New(fault.Malformed, "the header has no dimensions, expected 1 to 255").
			At(3).WithHint("to store a single number, write one dimension of size 1")
	case m[0] == 0 && m[1] == 0:
		return fault.New(fault.Malformed, "unknown data type 0x%02x, expected 08, 09, 0b, 0c, 0d or 0e", m[2]).
			At(2).WithHint(hintHeader)
	}
	more := make([]byte, lookAhead)
	n, _ := io.ReadFull(r, more) // the file is refused whether or not this fails
	return notIDX(append(m[:], more[:n]...))
}

// WebPage recognises an HTML or XML page, which servers send in place of a missing file. It returns
// the message of an error, with what was expected, and a hint, or two empty strings if head, the
// beginning of the file, does not begin like such a page.
func WebPage(head []byte, expected string) (message, hint string) {
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	for _, begin := range []string{"<!doctype", "<html", "<?xml", "<error", "<head"} {
		if n := min(len(text), len(begin)); n > 0 && string(text[:n]) == begin[:n] {
			return "found an HTML or XML page, expected " + expected, "the server sent an error page instead of the file: download it again"
		}
	}
	return "", ""
}

// likeCSV reports whether head is text that contains a separator and begins with a number or a
// name.
func likeCSV(head []byte) bool {
	begins := func(c byte) bool {
		return c == '"' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	binary := func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	return len(head) > 0 && begins(head[0]) && bytes.ContainsAny(head, ",;\t") && !bytes.ContainsFunc(head, binary)
}

// notIDX returns the error for a file that begins with head, which is not IDX.
func notIDX(head []byte) error {
	unsupported := func(hint, format string, args ...any) error {
		return fault.New(fault.Unsupported, format, args...).At(0).WithHint("%s", hint).Because(ErrMagic)
	}
	if message, hint := WebPage(head, "an IDX file"); message != "" {
		return unsupported(hint, "%s", message)
	}
	if lushMatrix(head) {
		return unsupported("NORB files have another format with a similar header; idxport does not read them",
			"found a NORB (Lush binary matrix) file, magic % x, expected an IDX file", head[:4])
	}
	if len(head) > tarMagicAt && bytes.HasPrefix(head[tarMagicAt:], []byte("ustar")) {
		return unsupported("unpack the archive with tar -xf FILE, then convert the files in it; the labels of WebDataset (.cls) are not read", "found a tar archive, expected an IDX file")
	}
	for _, s := range foreignFormats {
		if bytes.HasPrefix(head, []byte(s.prefix)) {
			return unsupported(s.hint, "found %s, expected an IDX file", s.name)
		}
	}
	if likeCSV(head) {
		return unsupported("if it is CSV, save it as FILE.csv, then: idxport convert FILE.csv -o OUT", "found text, such as CSV, expected an IDX file")
	}
	return unsupported("an IDX file begins with two zero bytes, a data type (08…0e) and the number of dimensions",
		"found % x, expected an IDX file, which begins with 00 00", head[:min(4, len(head))])
}
