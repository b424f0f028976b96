package png

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// A conversion is that of samples to the type that the caller wants.
type conversion struct {
	from, to idx.DType
}

// newConversion decides the type: wanted, or the format's own if that is 0.
func newConversion(own, wanted idx.DType) (conversion, error) {
	if wanted == 0 {
		wanted = own
	}
	if wanted == idx.Int8 || wanted == idx.Uint8 && own != idx.Uint8 {
		return conversion{}, fault.New(fault.Unsupported, "the samples are %s, which %s does not hold", own, wanted).
			WithHint("leave out --dtype, or choose a wider type")
	}
	return conversion{from: own, to: wanted}, nil
}

// append appends the record of a file of format f to dst.
func (c conversion) append(dst []byte, f picture.Format, data []byte) ([]byte, error) {
	if c.from == c.to {
		return f.Append(dst, data)
	}
	samples, err := f.Append(nil, data)
	if err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(samples)/c.from.Size()*c.to.Size())
	for i := 0; i < len(samples); i += c.from.Size() {
		v := int16(samples[i])
		if c.from == idx.Int16 {
			v = int16(binary.LittleEndian.Uint16(samples[i:]))
		}
		switch c.to {
		case idx.Int16:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
		case idx.Int32:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(v)))
		case idx.Float32:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v)))
		default:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64(v)))
		}
	}
	return dst, nil
}
