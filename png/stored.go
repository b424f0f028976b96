package png

import (
	"encoding/binary"
	"hash/adler32"
)

// zlibHeader opens a zlib stream: deflate with a window of 32 KiB, fastest level (RFC 1950 §2.2).
const zlibHeader = "\x78\x01"

// maxStored is the most a stored block holds: its length has 16 bits (RFC 1951 §3.2.4).
const maxStored = 65_535

// storedSize returns the size of the zlib stream that stores n > 0 bytes.
func storedSize(n int) int {
	blocks := (n + maxStored - 1) / maxStored
	return len(zlibHeader) + 5*blocks + n + 4
}

// appendStored appends the zlib stream that stores lines uncompressed.
func appendStored(dst, lines []byte) []byte {
	dst = append(dst, zlibHeader...)
	for rest := lines; len(rest) > 0; {
		block := rest[:min(len(rest), maxStored)]
		rest = rest[len(block):]
		last := byte(0)
		if len(rest) == 0 {
			last = 1
		}
		dst = append(dst, last) // BFINAL, BTYPE 00, padding to the byte
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(block)))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(len(block)))
		dst = append(dst, block...)
	}
	return binary.BigEndian.AppendUint32(dst, adler32.Checksum(lines))
}
