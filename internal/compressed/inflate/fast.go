package inflate

import "encoding/binary"

const (
	// fastLiterals is the number of literals that are decoded between two refills. Of the at least
	// 56 bits after a refill, they leave enough to look up the next code.
	fastLiterals = (56 - literalBits) / literalBits

	// fastInput is the number of bytes that a round may read: two loads of 8, the second one up to
	// 7 bytes after the first. Between them is a match of up to 48 bits.
	fastInput = 16

	// copySlack is the number of bytes after a match that copyMatch may write.
	copySlack = 31

	// fastOutput is the number of bytes that a round may write: literals, and a match.
	fastOutput = fastLiterals + 1 + maxMatch + copySlack
)

// fast decodes literals and matches as long as a round stays within the input's buffer and the
// window. It leaves everything else to symbols: the end of a block, literals of the second level,
// which are rare, bad codes, and distances that reach too far.
//
// Measured on one core of two, whole streams through bufio.Readers of 64 KiB: the 47 MB of
// Fashion-MNIST's training images, as published, took 81 ms (klauspost/compress/flate 164,
// compress/flate 216); MNIST's after gzip -9 took 48 ms (103 and 132). First levels of 10 or 12
// bits, or of 9 for distances, and windows half or twice as large make no measurable difference.
func (d *Reader) fast() {
	in, literals, distances := d.in, &d.codes.literals, &d.codes.distances
	out, written := &d.window, d.written
	bits, count, next := d.bits, d.count, d.next
	if next > len(in)-fastInput {
		return
	}
	bits, count, next = refill(bits, count, next, in)
	e := literals[bits&(1<<literalBits-1)]
	for next <= len(in)-fastInput && written <= windowLimit {
		for n := 0; n < fastLiterals && e&literal != 0; n++ {
			bits, count = drop(bits, count, e)
			out[written] = e.literal()
			written++
			e = literals[bits&(1<<literalBits-1)]
		}
		bits, count, next = refill(bits, count, next, in) // e is still valid
		if e&literal != 0 {
			continue
		}
		startBits, startCount := bits, count
		if e&link != 0 {
			bits >>= literalBits
			count -= literalBits
			e = literals[(uint64(e>>16)+bits&(1<<(e>>8&15)-1))&(literalTableSize-1)]
		}
		length := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits, count = drop(bits, count, e)
		f := distances[bits&(1<<distanceBits-1)]
		if f&link != 0 {
			bits >>= distanceBits
			count -= distanceBits
			f = distances[(uint64(f>>16)+bits&(1<<(f>>8&15)-1))&(distanceTableSize-1)]
		}
		distance := int(f>>16) + int(bits&(1<<(f&63)-1)>>(f>>8&15))
		bits, count = drop(bits, count, f)
		if e&literal != 0 || (e|f)&special != 0 || distance > written {
			bits, count = startBits, startCount
			break
		}
		bits, count, next = refill(bits, count, next, in)
		e = literals[bits&(1<<literalBits-1)]
		copyMatch(out[written-distance:written+length+copySlack], distance, length)
		written += length
	}
	// Give back whole bytes, so that fewer than eight bits are held again.
	d.next = next - int(count>>3)
	d.count = count & 7
	d.bits = bits & (1<<d.count - 1)
	d.written = written
}

// drop removes the code of e and its extra bits.
func drop(bits uint64, count uint, e entry) (uint64, uint) {
	return bits >> (e & 63), count - uint(e&63)
}

// refill loads 8 bytes above the held bits and counts the bytes that fit: then 56 to 63 bits are
// held. The bits of the other bytes lie above them; the next refill loads the same bits there.
func refill(bits uint64, count uint, next int, in []byte) (uint64, uint, int) {
	return bits | binary.LittleEndian.Uint64(in[next:])<<(count&63), count | 56, next + int((63-count)>>3)
}

// copyMatch copies the first length bytes of src to distance bytes further on, in order, as later
// bytes may be copies of earlier ones. It may write copySlack more bytes, for which src must have
// room: most matches of images are short, and a branch costs more than copying 32 bytes.
func copyMatch(src []byte, distance, length int) {
	dst := src[distance:]
	if distance < 16 {
		for i := 0; i < length; { // what is there doubles
			i += copy(dst[i:length], src[:distance+i])
		}
		return
	}
	*(*[16]byte)(dst) = *(*[16]byte)(src)
	*(*[16]byte)(dst[16:]) = *(*[16]byte)(src[16:])
	for i := 32; i < length; i += 16 {
		*(*[16]byte)(dst[i:]) = *(*[16]byte)(src[i:])
	}
}
