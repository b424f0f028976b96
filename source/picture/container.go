package picture

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/idxport/idxport/fault"
)

const (
	signature  = "\x89PNG\r\n\x1a\n"
	chunkFrame = 12 // length, type and CRC around the data of a chunk
	headerSize = 13 // length of the data of IHDR
)

// pngChunk returns the data of the first chunk of one of the kinds, which are checked in the order
// of the file, and its kind. It returns nothing if there is none.
func pngChunk(file []byte, kinds ...string) (data []byte, found string) {
	for rest := file[len(signature):]; len(rest) >= chunkFrame; {
		end := int64(binary.BigEndian.Uint32(rest)) + chunkFrame
		if end > int64(len(rest)) {
			break
		}
		if found = string(rest[4:8]); slices.Contains(kinds, found) {
			return rest[8 : end-4], found
		}
		rest = rest[end:]
	}
	return nil, ""
}

// maxExpansion is the largest factor by which deflate can shrink data: a match of 258 bytes takes
// at least two bits. A JPEG of 8×8 blocks, each of at least one bit, is not smaller either.
const maxExpansion = 1032

// checkLength returns an error if a file is too short for so many bits of pixels.
func checkLength(file []byte, width, height, bitsPerPixel int) error {
	if int64(width)*int64(height)/8*int64(bitsPerPixel)/maxExpansion <= int64(len(file)) {
		return nil
	}
	return fault.New(fault.Truncated, "the header says %d×%d pixels, but the file has only %d bytes", width, height,
		len(file)).
		WithHint("the file is incomplete: download or write it again")
}

func checkPNG(file []byte) error {
	header := file[len(signature)+8:] // which image/png has checked
	samples := map[byte]int{grey: 1, trueColor: 3, palette: 1, greyAlpha: 2, withAlpha: 4}[header[9]]
	width, height := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])
	if err := checkLength(file, int(width), int(height), samples*int(header[8])); err != nil {
		return err
	}
	exif, _ := pngChunk(file, "eXIf")
	_, err := checkDirectory(exif)
	return err
}

// The colour types of section 11.2.2 of the PNG specification.
const (
	grey      = 0
	trueColor = 2
	palette   = 3
	greyAlpha = 4
	withAlpha = 6
)

// maxSparse is the largest number of samples for each byte of a progressive JPEG of more than 8 MiB
// of samples: image/jpeg takes 5 bytes for each sample.
const maxSparse = 64

// maxScans is the largest number of scans of a progressive JPEG, each of which goes through the
// whole picture: encoders write about ten.
const maxScans = 100

// The markers of section B.1.1.3 of ITU-T T.81.
const (
	markerSOF0, markerSOF2, markerSOS, markerEOI, markerAPP1 = 0xc0, 0xc2, 0xda, 0xd9, 0xe1
	markerRST0, markerRST7                                   = 0xd0, 0xd7
)

func checkJPEG(file []byte) error {
	scans := 0
	for at := 2; ; {
		next := bytes.IndexByte(file[at:], 0xff)
		if next < 0 || at+next+4 > len(file) {
			return nil // the decoder reports that the file ends
		}
		at += next + 1
		marker := file[at]
		if marker == 0 || marker == 0xff || markerRST0 <= marker && marker <= markerRST7 { // inside a scan
			continue
		}
		length := int(binary.BigEndian.Uint16(file[at+1:]))
		if marker == markerEOI || length < 2 || at+1+length > len(file) {
			return nil
		}
		segment := file[at+3 : at+1+length]
		var err error
		switch exif, ok := bytes.CutPrefix(segment, []byte(exifHeader)); {
		case marker == markerAPP1 && ok:
			_, err = checkDirectory(exif)
		case marker >= markerSOF0 && marker <= markerSOF2 && len(segment) >= 6:
			height, width := int(binary.BigEndian.Uint16(segment[1:])), int(binary.BigEndian.Uint16(segment[3:]))
			err = checkLength(file, width, height, 8*int(segment[5]))
			if samples := width * height * int(segment[5]); err == nil && marker == markerSOF2 &&
				samples > maxSparse*max(len(file), 128<<10) {
				err = fault.New(fault.Unsupported, "found a progressive JPEG image of %d×%d pixels in only %d bytes",
					width, height, len(file)).WithHint("write it without interlacing: mogrify -interlace none FILES")
			}
		case marker == markerSOS:
			if scans++; scans > maxScans {
				err = fault.New(fault.Unsupported, "the JPEG image has more than %d scans", maxScans).
					WithHint("convert it to PNG: mogrify -format png FILES")
			}
		}
		if err != nil {
			return err
		}
		at += 1 + length
	}
}

// exifHeader precedes EXIF data in JPEG files, and sometimes in WebP files.
const exifHeader = "Exif\x00\x00"

func checkWebP(file []byte) error {
	for rest := file[12:]; len(rest) >= 8; {
		size := int64(binary.LittleEndian.Uint32(rest[4:]))
		data := rest[8:]
		if size > int64(len(data)) {
			return nil
		}
		if string(rest[:4]) == "EXIF" {
			_, err := checkDirectory(bytes.TrimPrefix(data[:size], []byte(exifHeader)))
			return err
		}
		rest = data[min(size+size%2, int64(len(data))):]
	}
	return nil
}

func checkTIFF(file []byte) error {
	pages, err := checkDirectory(file)
	if err == nil && pages {
		err = fault.New(fault.Unsupported, "the TIFF file has several pages, expected one image").
			WithHint("write each page to a file of its own: convert FILE.tif FILE-%%d.png")
	}
	return err
}

// checkDirectory returns an error if the first directory of a TIFF file, or of EXIF data, says that
// the picture is to be turned or mirrored. It reports whether there is another directory, which in
// a TIFF file is another page.
func checkDirectory(data []byte) (more bool, err error) {
	const tagOrientation, long = 0x0112, 4
	if len(data) < 8 {
		return false, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return false, nil
	}
	count := order.Uint16(data[at:])
	at += 2
	for range count {
		if at+12 > int64(len(data)) {
			return false, nil
		}
		entry := data[at:]
		orientation := uint32(order.Uint16(entry[8:]))
		if order.Uint16(entry[2:]) == long {
			orientation = order.Uint32(entry[8:])
		}
		if order.Uint16(entry) == tagOrientation && 2 <= orientation && orientation <= 8 {
			return false, fault.New(fault.Unsupported,
				"the EXIF data say that the image is to be turned or mirrored (orientation %d), "+
					"which some programs do and others do not", orientation).
				WithHint("turn the pixels: mogrify -auto-orient FILES; or remove the EXIF data: mogrify -strip FILES")
		}
		at += 12
	}
	return at+4 <= int64(len(data)) && order.Uint32(data[at:]) != 0, nil
}
