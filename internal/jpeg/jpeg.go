package jpeg

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/idxport/idxport/internal/jpeg/samples"
)

// A decoder decodes one file at a time.
type decoder struct {
	width, height int // pixels
	h, v          int // blocks of grey or Y in a unit of the scan, which has one of Cb and Cr
	quant         [4]*[64]byte
	tables        [18]*table // by class<<4 | number
	made          [18]table  // of this file or another, which often has the same
	bits          bits
	dcs           [3]int32 // DC coefficients of the blocks before

	// Samples of the units that are being decoded, in 8 lines of 16 bytes each: of grey or Y, of
	// which 8 are not used if h is 1, and of Cb and Cr side by side.
	luma, chroma []byte
}

var decoders = sync.Pool{New: func() any { samples.Prepare(); return new(decoder) }}

// Append appends the samples of a picture to dst, line by line: one of grey for each pixel, or red,
// green and blue, if that is the number of channels. ok is false if file is for image/jpeg.
func Append(dst, file []byte, width, height, channels int) (all []byte, ok bool) {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	defer func() {
		ok = recover() == nil && ok // what is missing is nil, or out of range
		d.quant = [4]*[64]byte{}    // of the file
	}()
	d.width, d.height, d.h = width, height, 0
	d.tables = [18]*table{}
	scan := d.readHeader(file, channels)
	if scan == nil || (width|height)>>16 != 0 || !bytes.HasPrefix(d.bits.load(scan), []byte("\xff\xd9")) { // EOI
		return nil, false
	}
	return d.appendPicture(slices.Grow(dst, width*height*channels), channels)
}

// readHeader reads the segments up to that of the scan (B.1.1.4), and returns what follows, or nil.
func (d *decoder) readHeader(file []byte, channels int) (scan []byte) {
	frame := []byte{8, byte(d.height >> 8), byte(d.height), byte(d.width >> 8), byte(d.width), byte(channels), 1}
	parts, order := "\x00", "\x01\x01\x00\x00\x3f\x00"
	if channels == 3 {
		parts, order = "\x00\x02\x11\x01\x03\x11\x01", "\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00"
	}
	rest, begins := bytes.CutPrefix(file, []byte("\xff\xd8"))
	for begins && rest[0] == 0xff {
		marker, end := rest[1], 2+int(binary.BigEndian.Uint16(rest[2:]))
		body := rest[4:end]
		rest = rest[end:]
		switch {
		case marker == 0xc0 && d.h == 0: // SOF0, B.2.2
			d.h, d.v = int(body[7]>>4), int(body[7]&0xf)
			if !bytes.HasPrefix(body, frame) || string(body[8:]) != parts || (d.h-1)|(d.v-1)|1 != 1 {
				return nil
			}
			if channels == 1 {
				d.h, d.v = 1, 1 // A.2.2
			}
		case marker == 0xc4: // DHT, B.2.4.2
			for len(body) > 0 {
				size := 17
				for _, n := range body[1:17] {
					size += int(n)
				}
				if body[0]&^0x11 != 0 || size == 17 || size > 17+256 { // image/jpeg refuses the file
					return nil
				}
				d.tables[body[0]] = d.made[body[0]].set(body[1:size])
				body = body[size:]
			}
		case marker == 0xda && string(body) == order && d.h > 0: // SOS, B.2.3
			return rest
		case marker == 0xdb: // DQT, B.2.4.1
			for ; len(body) > 0; body = body[65:] {
				d.quant[body[0]] = (*[64]byte)(body[1:])
			}
		case 0xe0 <= marker && marker < 0xee || marker == 0xfe: // not APP14: other components
		default:
			return nil
		}
	}
	return nil
}

// appendPicture decodes the scan (F.2). ok is false if it has other blocks than those of the frame.
func (d *decoder) appendPicture(dst []byte, channels int) (all []byte, ok bool) {
	units := (d.width + 8*d.h - 1) / (8 * d.h)
	d.dcs = [3]int32{}
	d.luma = slices.Grow(d.luma[:0], 256*units+16)[:256*units+16]
	d.chroma = slices.Grow(d.chroma[:0], 128*units)[:128*units]
	for left := d.height; left > 0; left -= 8 * d.v {
		for x := range units {
			ok = true
			for j := range d.h * d.v {
				ok = ok && d.decodeBlock(0, d.luma[128*(x+j/d.h*units)+8*(j%d.h):])
			}
			for i := 1; i < channels; i++ {
				ok = ok && d.decodeBlock(i, d.chroma[128*x+8*(i-1):])
			}
			if !ok {
				return nil, false
			}
		}
		for y := range min(8*d.v, left) {
			luma := d.luma[16*(y%8)+128*units*(y/8):]
			if channels == 3 {
				dst = samples.AppendLine(dst, luma, d.chroma[16*(y/d.v):], d.width, d.h)
				continue
			}
			for x := 0; x < d.width; x += 8 {
				dst = append(dst, luma[16*x:][:min(8, d.width-x)]...)
			}
		}
	}
	left := 8*(len(d.bits.data)-padding-d.bits.at) + d.bits.n // bits, or less than none
	return dst, 0 <= left && left < 8
}
