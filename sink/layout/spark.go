package layout

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// openCVModes are OpenCV's numbers for pixels of 1, 3 and 4 unsigned bytes: CV_8UC1, CV_8UC3, CV_8UC4.
var openCVModes = [...]int{1: 0, 3: 16, 4: 24}

// sparkImage is the layout spark-image: the struct of Spark's ImageSchema (org.apache.spark.ml.image), whose pixels are row by row, gray, or in the
// order blue, green, red, alpha. The origin is empty, as pyspark's ImageSchema.toImage leaves it.
func sparkImage(c source.Column, p images.Image) ([]Column, error) {
	size := p.Size()
	if size > math.MaxInt32 {
		return nil, tooLarge("spark-image", c, size, "bytes")
	}
	swaps := p.Channels > 1
	made := group(c, []member{
		{
			kind:    arrow.BinaryTypes.String,
			element: optionalString("origin"),
			leaf: Leaf{Size: lengthSize, Made: true, Count: 1,
				Values: func(_ []byte, rows int) []byte { return make([]byte, lengthSize*rows) }},
			data: func(_ []byte, rows int) arrow.ArrayData {
				return bytesData(arrow.BinaryTypes.String, offsets(rows, 0), nil)
			},
		},
		constant("height", p.Height),
		constant("width", p.Width),
		constant("nChannels", p.Channels),
		constant("mode", openCVModes[p.Channels]),
		{
			kind:    arrow.BinaryTypes.Binary,
			element: optionalBytes("data"),
			leaf: Leaf{Size: lengthSize + size, Made: true, Count: 1, Values: func(data []byte, rows int) []byte {
				values := prefixed(data, rows, size)
				if swaps {
					for i := range rows {
						blueFirst(p, values[i*(lengthSize+size)+lengthSize:][:size], data[i*size:(i+1)*size])
					}
				}
				return values
			}},
			data: func(data []byte, rows int) arrow.ArrayData {
				if swaps {
					pixels := make([]byte, len(data))
					for i := range rows {
						blueFirst(p, pixels[i*size:(i+1)*size], data[i*size:(i+1)*size])
					}
					data = pixels
				}
				return bytesData(arrow.BinaryTypes.Binary, offsets(rows, size), data)
			},
		},
	})
	made.Made = 2*lengthSize + 4*4 // offsets of two members, and four constants
	if swaps {
		made.Made += size
	}
	return []Column{made}, nil
}

// constant is a member with the same INT32 in every row. Pages of scalars make next to nothing of it, and tell it as the minimum and the maximum.
func constant(name string, value int) member {
	repeated := func(_ []byte, rows int) []byte {
		return bytes.Repeat(binary.LittleEndian.AppendUint32(nil, uint32(value)), rows)
	}
	return member{
		kind:    arrow.PrimitiveTypes.Int32,
		element: primitive(name, idx.Int32, format.Optional),
		leaf:    Leaf{Element: idx.Int32, Scalar: true, Made: true, Count: 1, Values: repeated},
		data: func(_ []byte, rows int) arrow.ArrayData {
			buffers := []*memory.Buffer{nil, memory.NewBufferBytes(repeated(nil, rows))}
			return array.NewData(arrow.PrimitiveTypes.Int32, rows, buffers, nil, 0, 0)
		},
	}
}

// blueFirst writes record to pixels, with the first and the third sample of every pixel swapped.
func blueFirst(p images.Image, pixels, record []byte) {
	p.Pixels(pixels, record)
	for i := 0; i+2 < len(pixels); i += p.Channels {
		pixels[i], pixels[i+2] = pixels[i+2], pixels[i]
	}
}
