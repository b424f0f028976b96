package tar

import (
	"encoding/json"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source/idx"
)

// block is the size that headers have, and that files are padded to.
const block = 512

// Where the fields of a header begin that differ from file to file, and their digits without the zero byte that ends them; see "ustar Interchange Format" in
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html
const (
	sizeAt, sizeDigits = 124, 11 // octal
	sumAt, sumDigits   = 148, 6  // octal
)

// A header is that of all files of one kind, but for key, size and checksum. To fill it in takes a thirtieth of the time that archive/tar takes for the same bytes.
type header struct {
	bytes [block]byte
	sum   int // of the bytes, the checksum's own counted as spaces
}

// newHeader returns the header of files whose name is a key of digits bytes and ending. It is no longer than 100 bytes.
func newHeader(digits int, ending string) *header {
	h := &header{}
	put := func(at int, text string) { copy(h.bytes[at:], text) }
	put(digits, ending)
	put(100, "0000644\x00") // mode
	put(108, "0000000\x00") // user
	put(116, "0000000\x00") // group
	put(sizeAt+sizeDigits, "\x00")
	put(136, "00000000000\x00") // time
	put(sumAt, "        ")
	put(156, "0") // a regular file
	put(257, "ustar\x0000")
	put(329, "0000000\x00") // device numbers, which archive/tar and Python's tarfile write too
	put(337, "0000000\x00")
	for _, b := range h.bytes {
		h.sum += int(b)
	}
	return h
}

// fill writes to dst, a block, the header of the file of key that has size bytes: at most 8 GiB − 1, far more than a record.
func (h *header) fill(dst, key []byte, size int) {
	copy(dst, h.bytes[:])
	copy(dst, key)
	sum := h.sum + octal(dst[sizeAt:sizeAt+sizeDigits], size)
	for _, b := range key {
		sum += int(b)
	}
	octal(dst[sumAt:sumAt+sumDigits], sum)
	dst[sumAt+sumDigits] = 0 // and a space, which is there
}

// octal writes n to dst, with zeros before it, and returns the sum of the bytes.
func octal(dst []byte, n int) (sum int) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = '0' + byte(n&7)
		sum += int(dst[i])
		n >>= 3
	}
	return sum
}

// padded is n rounded up to whole blocks.
func padded(n int) int { return (n + block - 1) &^ (block - 1) }

// infinity is what Python's json calls it.
const infinity = "Infinity"

// A scalar is a column that goes into the .json of its row.
type scalar struct {
	column int
	dtype  idx.DType
	key    string // with the quotes, the colon, and what separates it from the one before
}

// newScalars are those of columns of s that are scalars; left are the others.
func newScalars(s *schema.Schema, columns []int) (scalars []scalar, left []int) {
	separator := "{"
	for _, i := range columns {
		c := s.Columns[i]
		if !c.Scalar() {
			left = append(left, i)
			continue
		}
		var name strings.Builder
		e := json.NewEncoder(&name)
		e.SetEscapeHTML(false)
		_ = e.Encode(c.Name) // a string into memory: cannot fail
		scalars = append(scalars, scalar{column: i, dtype: c.DType, key: separator + strings.TrimSpace(name.String()) + ":"})
		separator = ","
	}
	return scalars, left
}

// appendJSON appends the object of row i of b.
func appendJSON(dst []byte, scalars []scalar, b schema.Batch, i int) []byte {
	for _, s := range scalars {
		dst = append(dst, s.key...)
		dst = images.AppendNumber(dst, s.dtype, b.Columns[s.column], i, infinity)
	}
	return append(dst, '}')
}
