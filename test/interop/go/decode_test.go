package interop

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
)

// appendInteger appends an integer as an element of the input's type, which must hold it.
func appendInteger(to []byte, v int64, input idxArray) ([]byte, error) {
	size := input.size
	if names[input.code] == "uint8" && (v < 0 || v > 255) || names[input.code] != "uint8" && (v<<(64-8*size))>>(64-8*size) != v {
		return nil, differs("found %d, which is no %s", v, names[input.code])
	}
	var element [8]byte
	binary.LittleEndian.PutUint64(element[:], uint64(v))
	return append(to, element[:size]...), nil
}

// appendRGB appends the samples of Spark's image data, whose colours are in the order blue, green, red.
func appendRGB(to, data []byte, channels int) []byte {
	if channels == 1 {
		return append(to, data...)
	}
	for i := 0; i+channels <= len(data); i += channels {
		to = append(to, data[i+2], data[i+1], data[i])
		to = append(to, data[i+3:i+channels]...)
	}
	return to
}

// channels is the number of samples of a pixel of images.
func (a idxArray) channels() int {
	if len(a.shape) == 4 {
		return a.shape[3]
	}
	return 1
}

// appendPNG appends the samples of a PNG file.
func appendPNG(to, file []byte, input idxArray) ([]byte, error) {
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if size := picture.Bounds().Size(); size != image.Pt(input.shape[2], input.shape[1]) {
		return nil, differs("the picture has the size %v", size)
	}
	for y := range input.shape[1] {
		for x := range input.shape[2] {
			switch c := picture.At(x, y).(type) {
			case color.Gray:
				to = append(to, c.Y)
			case color.Gray16:
				to = binary.LittleEndian.AppendUint16(to, c.Y)
			case color.RGBA: // a picture without transparency
				to = append(to, c.R, c.G, c.B)
			case color.NRGBA:
				to = append(to, c.R, c.G, c.B, c.A)
			default:
				return nil, differs("the picture has colours of type %T", c)
			}
		}
	}
	return to, nil
}
