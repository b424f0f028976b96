package idx

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// idxHeader returns the header of an IDX file with the given number of records of c.
func idxHeader(c source.Column, rows int64) ([]byte, error) {
	if rows > math.MaxUint32 {
		return nil, fault.New(fault.Usage, "idx: found %d rows, expected at most %d", rows, uint32(math.MaxUint32)).
			WithHint("select fewer rows with --rows")
	}
	h := idx.Header{DType: c.DType, Dims: []int64{rows}}
	for _, d := range c.Shape {
		h.Dims = append(h.Dims, int64(d))
	}
	header, err := h.AppendBinary(nil)
	if err != nil {
		return nil, fault.New(fault.Usage, "idx: column %q: %v", c.Name, err)
	}
	return header, nil
}

const (
	npyMagic = "\x93NUMPY\x01\x00" // including the version

	// maxDims is how many dimensions every NumPy reads: 32 before 2.0, 64 since then.
	maxDims = 32

	// growthDigits is the space that NumPy has left for the number of rows since version 1.23, so
	// that a writer that appends can change it in place: the digits of 2⁶⁴−1 and one more.
	growthDigits = 21

	// alignment is that of the elements within the file, in bytes.
	alignment = 64
)

// npyHeader returns the header of a .npy file with the given number of records of c.
func npyHeader(c source.Column, rows int64) ([]byte, error) {
	if dims := 1 + len(c.Shape); dims > maxDims {
		return nil, fault.New(fault.Usage,
			"npy: column %q: found %d dimensions, expected at most the %d that NumPy supports", c.Name, dims, maxDims).
			WithHint("use fewer dimensions with --shape")
	}
	count := fmt.Sprint(rows)
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Shape), "[]"), " ", ", ")
	order := '<' // little-endian
	if c.DType.Size() == 1 {
		order = '|'
	}
	// NumPy's array protocol describes types by byte order, kind (the first letter) and size.
	text := fmt.Sprintf("{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%s), }", order, c.DType.String()[0],
		c.DType.Size(), strings.TrimSpace(count+", "+shape))
	text += strings.Repeat(" ", growthDigits-len(count))
	// Like NumPy, this adds a whole block of padding if the text fits exactly.
	text += strings.Repeat(" ", alignment-(len(npyMagic)+2+len(text)+1)%alignment) + "\n"
	// The text of 32 dimensions takes less than 1 KiB.
	header := binary.LittleEndian.AppendUint16([]byte(npyMagic), uint16(len(text)))
	return append(header, text...), nil
}
