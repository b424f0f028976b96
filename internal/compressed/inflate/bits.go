package inflate

import (
	"bufio"
	"io"
)

// A bitInput returns the input's bits and takes a byte only when a bit of it is needed. So it holds
// fewer than eight bits between symbols, and at the end of a stream it has taken exactly its bytes.
type bitInput struct {
	r      *bufio.Reader
	in     []byte // r's buffer, as it was when borrowed
	next   int    // index in in of the first byte not taken
	offset int64  // bytes of the stream that precede in

	bits  uint64 // unused bits, the next one lowest; those from count on are zero
	count uint

	err error // of r, io.ErrUnexpectedEOF at its end; the bits that are read after it are zeros
}

// borrow takes the bytes in r's buffer. giveBack must be called before anything else uses r.
func (b *bitInput) borrow() {
	b.in, _ = b.r.Peek(b.r.Buffered()) // cannot fail, as these bytes are buffered
	b.next = 0
}

// giveBack ends what borrow began: it discards the used bytes from r, which continues after them.
func (b *bitInput) giveBack() {
	n, _ := b.r.Discard(b.next) // cannot fail, as in borrow
	b.offset += int64(n)
	b.in, b.next = nil, 0
}

// fill reads until a byte can be taken, and reports whether there is one.
func (b *bitInput) fill() bool {
	if b.next == len(b.in) && b.err == nil {
		b.giveBack()
		if _, b.err = b.r.Peek(1); b.err == io.EOF {
			b.err = io.ErrUnexpectedEOF
		}
		b.borrow()
	}
	return b.err == nil
}

// more takes a byte, and reports whether there is one.
func (b *bitInput) more() bool {
	if !b.fill() {
		return false
	}
	b.bits |= uint64(b.in[b.next]) << b.count
	b.next++
	b.count += 8
	return true
}

// number reads n bits, at most 16, the lowest first.
func (b *bitInput) number(n uint) int {
	for b.count < n {
		if !b.more() {
			return 0
		}
	}
	v := b.bits & (1<<n - 1)
	b.skip(n)
	return int(v)
}

// skip drops n of the bits held.
func (b *bitInput) skip(n uint) {
	b.bits >>= n
	b.count -= n
}

// lookUp reads a code, without the extra bits after it. Missing bits count as zeros; an entry found
// with them is valid only if its code ends before them.
func (b *bitInput) lookUp(table []entry, firstBits uint) entry {
	for {
		e := table[b.bits&(1<<firstBits-1)]
		n := e.codeBits()
		if e&link != 0 {
			e = table[e.value()+int(b.bits>>firstBits&(1<<n-1))]
			n = firstBits + e.codeBits()
		}
		if n <= b.count {
			b.skip(n)
			return e
		}
		if !b.more() {
			return special
		}
	}
}

// extra reads the extra bits of a length or distance and returns its value.
func (b *bitInput) extra(e entry) int { return e.value() + b.number(e.allBits()-e.codeBits()) }
