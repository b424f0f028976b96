package layout

import (
	"encoding/binary"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// maxColumns is the maximum number of elements of a record in the layout "columns": a 64×64 image.
// Every column costs its reader time and memory before the first value, and both formats describe
// all columns again in every row group or batch.
const maxColumns = 4096

// columns is the layout "columns": a primitive column for each element of a record. Prepare
// transposes a batch once for all columns.
func (l Layout) columns(c source.Column) ([]Column, error) {
	n, size := c.Elements(), c.DType.Size()
	if n == 0 || n > maxColumns {
		return nil, l.refuse("choose others with --columns, or use the layout list, with one column for all elements",
			"a record of column %s has %d elements, expected 1 to %d", c.Name, n, maxColumns)
	}
	metadata := fieldMetadata(c)
	made := make([]Column, n)
	for i := range made {
		name := string(schema.AppendElementName(nil, c, i, l.alone))
		made[i] = primitive(name, c.DType, metadata, func(transposed []byte, rows int) []byte {
			return transposed[i*rows*size : (i+1)*rows*size : (i+1)*rows*size]
		})
		made[i].Prepare = func(data []byte, _ int) []byte { return transpose(data, n, size) }
		made[i].Allocates, made[i].Leaves[0].Allocates = size, true
	}
	return made, nil
}

// The size of a tile of transpose: rows, and bytes per row, which are a cache line. A tile of 16
// KiB stays in the cache while its columns are gathered one by one.
const (
	tileRows  = 256
	tileBytes = 64
)

// transpose returns data, records of n elements of size bytes, by columns: the first element of
// every record, then the second of every record, and so on.
func transpose(data []byte, n, size int) []byte {
	transposed := make([]byte, len(data))
	record := n * size
	rows := len(data) / record
	for from := 0; from < rows; from += tileRows {
		to := min(from+tileRows, rows)
		for first := 0; first < n; first += tileBytes / size {
			for i := first; i < min(first+tileBytes/size, n); i++ {
				gather(transposed[(i*rows+from)*size:(i*rows+to)*size], data[from*record+i*size:], record, size)
			}
		}
	}
	return transposed
}

// gather fills dst with the elements of size bytes at the start of src and every stride bytes after
// it.
func gather(dst, src []byte, stride, size int) {
	switch size {
	case 1:
		for i := range dst {
			dst[i] = src[i*stride]
		}
	case 2:
		for i := 0; i < len(dst); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], binary.LittleEndian.Uint16(src[i/2*stride:]))
		}
	case 4:
		for i := 0; i < len(dst); i += 4 {
			binary.LittleEndian.PutUint32(dst[i:], binary.LittleEndian.Uint32(src[i/4*stride:]))
		}
	default:
		for i := 0; i < len(dst); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(src[i/8*stride:]))
		}
	}
}
