package layout

import (
	"encoding/binary"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// maxColumns is the most elements of a record in the layout columns: a 64×64 image. Every column
// costs its reader time and memory before the first value, and both formats describe each of them
// anew in every row group or batch.
const maxColumns = 4096

// columns is the layout of the name: a primitive column for each element of a record. A batch is
// turned once for all of them, so that each column's elements stand together. Records of no
// elements have no columns.
func (l Layout) columns(c source.Column, alone bool) ([]Column, error) {
	n, size := c.Elements(), c.DType.Size()
	if n > maxColumns {
		return nil, l.refuse("use the layout list, which has one column for all elements",
			"a record of column %s has %d elements, expected at most %d", c.Name, n, maxColumns)
	}
	metadata := fieldMetadata(c)
	made := make([]Column, n)
	for i := range made {
		name := string(schema.AppendElementName(nil, c, i, alone))
		// The values are the i-th of n columns, one after another, of rows elements each.
		made[i] = primitive(name, c.DType, metadata, func(turned []byte, rows int) []byte {
			return turned[i*rows*size : (i+1)*rows*size : (i+1)*rows*size]
		})
		made[i].Prepare = func(data []byte, _ int) []byte { return turn(data, n, size) }
		made[i].Made, made[i].Leaves[0].Made = size, true
	}
	return made, nil
}

// Sides of a tile of turn: its rows, and the bytes of each of them, a line of the cache. A tile is
// 16 KiB and stays near while its columns are gathered one by one.
const (
	tileRows  = 256
	tileBytes = 64
)

// turn is data, records of n elements of size bytes, by columns: the first element of every record,
// then the second of every record, and so on.
func turn(data []byte, n, size int) []byte {
	turned := make([]byte, len(data))
	record := n * size
	rows := len(data) / record
	for from := 0; from < rows; from += tileRows {
		to := min(from+tileRows, rows)
		for first := 0; first < n; first += tileBytes / size {
			for i := first; i < min(first+tileBytes/size, n); i++ {
				gather(turned[(i*rows+from)*size:(i*rows+to)*size], data[from*record+i*size:], record, size)
			}
		}
	}
	return turned
}

// gather fills dst with the elements of size bytes that stand at the start of src and every stride
// bytes after it.
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
