package idx

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// ErrMagic is the cause of the error for a file that is damaged at its start, or of another format.
var ErrMagic = errors.New("not an IDX file")

const (
	hintDownload = "the file is incomplete: download or write it again"
	hintHeader   = "the header is damaged, or this is not an IDX file"
	hintNoBytes  = "the header is damaged: with a dimension of 0, records have no bytes"
	hintUnfilled = "the number of records was never filled in; read the records that are there with --salvage"
	hintFile     = "this format is not read from a pipe or compressed: save it decompressed, then: idxport convert FILE"
	hintImages   = "give the folder of the images instead of a file: idxport convert FOLDER -o OUT"
	hintBinary   = "transfer it again as binary, for its bytes were changed; PowerShell's > writes text, so use curl -o"
	hintArray    = "save the array in another format first, such as .npy"
)

// HintSalvage is the end of the hint for an incomplete file that may have complete records.
const HintSalvage = ", or read the complete records with --salvage"

// foreignFormats are formats that users mistake for others, recognised by the bytes at an offset.
var foreignFormats = []struct {
	offset            int
	bytes, name, hint string
}{
	{0, "\x1f\xef\xbf\xbd", "a gzip file after a transfer as text", hintBinary},
	{0, "\x1f\xc2\x8b", "a gzip file after a transfer as text", hintBinary},
	{0, "\xff\xfe\x1f\x00", "a gzip file in UTF-16", hintBinary},
	{0, "\xff\xfe\x00\x00", "UTF-16", hintBinary},
	{0, "\x1f\x8b", "a gzip file", "decompress it first: gunzip <FILE >UNPACKED; idxport itself does so once"},
	{0, "\x04\x22\x4d\x18", "an LZ4 file", "decompress it first: lz4 -d <FILE >UNPACKED"},
	{0, "\x5d\x00\x00", "an LZMA file", "decompress it first: xz -d <FILE >UNPACKED"},
	{0, "PK\x03\x04", "a zip archive", "if .npz, name it so; export .xlsx as CSV, .pt as .npy; unpack others first"},
	{257, "ustar", "a tar archive", "unpack it with tar -xf FILE first; the labels of WebDataset (.cls) are not read"},
	{0, "PAR1\x15", "a Parquet file", hintFile + ".parquet -o OUT"},
	{0, "ARROW1\x00", "an Arrow IPC file", hintFile + ".arrow -o OUT"},
	{0, "\x93NUMPY", "a numpy .npy file", hintFile + ".npy -o OUT"},
	{0, "\x89PNG", "a PNG image", hintImages},
	{0, "\xff\xd8\xff", "a JPEG image", hintImages},
	{1, "\x4c\x3d\x1e", "a NORB (Lush binary matrix) file", hintArray},
	{10, " MAT-file", "a MATLAB file", hintArray},
	{0, "\x89HDF", "an HDF5 file", hintArray},
	{0, "\x80\x02", "a Python pickle", hintArray}, // 80 alone is the euro sign of Windows
	{0, "\x80\x03", "a Python pickle", hintArray},
	{0, "\x80\x04", "a Python pickle", hintArray},
	{0, "\x80\x05", "a Python pickle", hintArray},
	{0, "version https://git-lfs", "a Git LFS pointer", "fetch the real file with git lfs pull"},
}

// HasMagic reports whether head begins like an IDX file: 00 00, a data type, a rank of at least 1.
func HasMagic(head []byte) bool {
	return len(head) >= 4 && head[0] == 0 && head[1] == 0 && DType(head[2]).Valid() && head[3] > 0
}

// badMagic returns the error for an input that begins with m and goes on with r, which it may read.
func badMagic(m [4]byte, r io.Reader) error {
	if m[3] == 0 && m[2] == 0 && DType(m[1]).Valid() && m[0] > 0 {
		return fault.New(fault.Malformed, "the header is little-endian: found % x, expected 00 00 %02x %02x",
			m[:], m[1], m[0]).At(0).WithHint("IDX is big-endian: write the file again").Because(ErrMagic)
	}
	if m[0] == 0 && m[1] == 0 {
		return fault.New(fault.Malformed,
			"found data type 0x%02x and %s, expected 08, 09, 0b, 0c, 0d or 0e, and 1 to 255",
			m[2], text.Count(int(m[3]), "dimension")).At(2).WithHint(hintHeader)
	}
	more, _ := io.ReadAll(io.LimitReader(r, 512)) // to detect another format; it is refused even if this fails
	return notIDX(append(m[:], more...))
}

// Foreign recognises files of other formats, and what servers and Git put in the place of a missing
// file. It returns the message of an error, with what was expected, and a hint, or two empty
// strings if head, the beginning of the file, does not begin like that.
func Foreign(head []byte, expected string) (message, hint string) {
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	for _, begin := range []string{"<", "404: not found", "entry not found"} {
		if bytes.HasPrefix(text, []byte(begin)) {
			return "found an HTML or XML page, or an error message, expected " + expected,
				"the server sent it in place of the file: check the URL, and download it again"
		}
	}
	for _, f := range foreignFormats {
		if f.offset < len(head) && bytes.HasPrefix(head[f.offset:], []byte(f.bytes)) {
			return "found " + f.name + ", expected " + expected, f.hint
		}
	}
	return "", ""
}

// notIDX returns the error for a file that begins with head, which is not IDX.
func notIDX(head []byte) error {
	message, hint := Foreign(head, "an IDX file")
	binary := func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }
	switch {
	case message != "":
	case bytes.ContainsAny(head, ",;\t \n") && !bytes.ContainsFunc(head, binary):
		message = "found text, such as CSV, expected an IDX file"
		hint = "if it is CSV, save it as FILE.csv, then: idxport convert FILE.csv -o OUT; else save the arrays as .npy"
	default:
		message = fmt.Sprintf("found % x, expected an IDX file, which begins with 00 00", head[:min(4, len(head))])
		hint = "an IDX file begins with two zero bytes, a data type (08…0e) and the number of dimensions"
	}
	return fault.New(fault.Unsupported, "%s", message).At(0).WithHint("%s", hint).Because(ErrMagic)
}
