package inflate

import "io"

// An Input is where a [Reader] takes its stream from, such as a [bufio.Reader], whose methods these are. Peek is asked for the
// bytes that Buffered counts, or for one.
type Input interface {
	Buffered() int
	Peek(n int) ([]byte, error)
	Discard(n int) (int, error)
}

// A bitInput hands out the input's bits and takes a byte only when a bit of it is needed. So less than one byte's bits are
// held between symbols, and at the end of a stream exactly its bytes have been taken.
type bitInput struct {
	r      Input
	in     []byte // r's buffer, as it was when borrowed
	next   int    // index in in of the first byte not taken
	offset int64  // bytes of the stream before in

	bits  uint64 // not yet used, the next one lowest; those from count on are zero
	count uint
}

// borrow makes the bytes in r's buffer available; giveBack must follow before r is used by others.
func (b *bitInput) borrow() {
	b.in, _ = b.r.Peek(b.r.Buffered()) // no error, as no more is asked for than there is
	b.next = 0
}

// seek goes on at a bit of the bytes made available.
func (b *bitInput) seek(bit int) {
	b.next, b.bits, b.count = bit>>3, 0, 0
	if used := uint(bit & 7); used != 0 {
		b.bits, b.count = uint64(b.in[b.next]>>used), 8-used
		b.next++
	}
}

// bit is the position in the bytes made available.
func (b *bitInput) bit() int { return 8*b.next - int(b.count) }

// giveBack takes what was used from r.
func (b *bitInput) giveBack() {
	n, _ := b.r.Discard(b.next) // no error, as for borrow
	b.offset += int64(n)
	b.in, b.next = nil, 0
}

// used is the number of bytes of which all or some bits were used.
func (b *bitInput) used() int64 { return b.offset + int64(b.next) - int64(b.count/8) }

// empty reports whether the next byte has to be read first, which may block.
func (b *bitInput) empty() bool { return b.next == len(b.in) }

// fill reads until a byte can be taken.
func (b *bitInput) fill() error {
	if !b.empty() {
		return nil
	}
	b.giveBack()
	if _, err := b.r.Peek(1); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	b.borrow()
	return nil
}

// more takes another byte.
func (b *bitInput) more() error {
	if err := b.fill(); err != nil {
		return err
	}
	b.bits |= uint64(b.in[b.next]) << b.count
	b.next++
	b.count += 8
	return nil
}

// number reads n bits, at most 16, the lowest first.
func (b *bitInput) number(n uint) (int, error) {
	for b.count < n {
		if err := b.more(); err != nil {
			return 0, err
		}
	}
	v := b.bits & (1<<n - 1)
	b.skip(n)
	return int(v), nil
}

// skip drops n of the bits held.
func (b *bitInput) skip(n uint) {
	b.bits >>= n
	b.count -= n
}

// alignToByte drops the bits that are left of a byte.
func (b *bitInput) alignToByte() { b.skip(b.count & 7) }

// lookUp reads a code, but not the extra bits after it. While bits are missing they count as zeros; the entry then found
// holds only if its code ends before them.
func (b *bitInput) lookUp(table []entry, firstBits uint) (entry, error) {
	for {
		e := table[b.bits&(1<<firstBits-1)]
		n := e.codeBits()
		if e&link != 0 {
			e = table[e.value()+int(b.bits>>firstBits&(1<<n-1))]
			n = firstBits + e.codeBits()
		}
		if n <= b.count {
			b.skip(n)
			return e, nil
		}
		if err := b.more(); err != nil {
			return 0, err
		}
	}
}

// extra reads the extra bits of a length or distance and returns its value.
func (b *bitInput) extra(e entry) (int, error) {
	v, err := b.number(e.allBits() - e.codeBits())
	return e.value() + v, err
}
