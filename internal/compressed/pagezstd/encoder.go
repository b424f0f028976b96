package pagezstd

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/huff0"
)

// Sizes in bytes.
const (
	maxBlock    = 128 << 10 // of the contents of a block
	blockHeader = 3
	minHuffman  = 64 // of the literals of a block that are compressed
)

// maxPredefined is the number of sequences up to which the predefined tables may be shorter than
// fitted ones, which need a description.
const maxPredefined = 512

// Offset values of sequences: the first and the second repeat offset, or an offset plus repeats.
const (
	firstRepeat  = 1 // 1 byte back, except after levels
	secondRepeat = 2
	repeats      = 3
)

// Types of blocks. Those of literals sections have the same numbers.
const (
	typeRaw        = 0
	typeRLE        = 1
	typeCompressed = 2
	typeTreeless   = 3 // literals that are compressed with the Huffman table of an earlier block
)

// An Encoder compresses pages. Its zero value is ready for use. It is not safe for concurrent use.
type Encoder struct {
	Checksum bool // add the checksum of the contents to each frame

	runs    splitter
	huffman huff0.Scratch
	fitted  pair
	other   []byte // the sequences as encoded with the predefined tables, for comparison
}

// Append appends a frame of page to dst. The frame depends on page and Checksum alone.
func (e *Encoder) Append(dst, page []byte) []byte {
	e.huffman.Reuse, e.huffman.WantLogLess = huff0.ReusePolicyNone, 4
	const contentSize, checksum = 3 << 6, 1 << 2 // flags: a size of 8 bytes follows; a checksum at the end
	const window = 7 << 3                        // 1<<(10+7) bytes, the least for blocks of maxBlock
	descriptor := byte(contentSize)
	if e.Checksum {
		descriptor |= checksum
	}
	dst = append(dst, 0x28, 0xb5, 0x2f, 0xfd, descriptor, window)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(page)))
	dst, rest := e.appendLevels(dst, page)
	for first := len(rest) == len(page); first || len(rest) > 0; first = false {
		block := rest[:min(len(rest), maxBlock)]
		rest = rest[len(block):]
		e.runs.split(block)
		// Decoders before zstd 1.4.4 refuse a frame whose first block is of the type RLE.
		if len(e.runs.sequences) == 1 && len(e.runs.literals) == 1 && !first {
			dst = append(appendBlockHeader(dst, typeRLE, len(block), len(rest) == 0), block[0])
		} else {
			dst = e.appendBlock(dst, block, firstRepeat, len(rest) == 0)
		}
	}
	if e.Checksum {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(xxhash.Sum64(page)))
	}
	return dst
}

// Matched returns how many bytes of p, at most 128 KiB, are in runs, without the first of each.
func (e *Encoder) Matched(p []byte) int {
	e.runs.split(p)
	return len(p) - len(e.runs.literals)
}

// appendLevels appends two blocks if page begins with levels, as in Parquet. The first block has
// the levels, which repeat after a few bytes; the second has what follows them, to the end of the
// first long run. Each block has one sequence. The offset of the first sequence is the period of
// the levels; that of the second makes 1 the first repeat offset again. Both sequences are so long
// that neither block is raw. It returns the rest of the page.
func (e *Encoder) appendLevels(dst, page []byte) (_, rest []byte) {
	const start, maxPeriod, minLevels, longRun = 16, 8, 256, 32 // bytes
	period, end := 0, 0
	for end < start+minLevels {
		if period++; period > maxPeriod {
			return dst, page
		}
		for end = start; end < min(len(page), maxBlock) && page[end] == page[end-period]; end++ {
		}
	}
	levels, rest := page[:end], page[end:]
	run, end := 0, 1 // run is how many bytes before end equal the byte before them
	for ; end < min(len(rest), maxBlock); end++ {
		if rest[end] == rest[end-1] {
			run++
		} else if run >= longRun {
			break
		} else {
			run = 0
		}
	}
	if period == 1 || run < longRun {
		return dst, page
	}
	e.runs.single(levels, start)
	dst = e.appendBlock(dst, levels, period+repeats, false)
	e.runs.single(rest[:end], end-run)
	dst = e.appendBlock(dst, rest[:end], secondRepeat, end == len(rest))
	return dst, rest[end:]
}

// appendBlockHeader appends the header of a block (section 3.1.1.2).
func appendBlockHeader(dst []byte, kind, size int, last bool) []byte {
	header := size<<3 | kind<<1
	if last {
		header |= 1
	}
	return append(dst, byte(header), byte(header>>8), byte(header>>16))
}

// appendBlock appends a block of p, which was split. All sequences have the same offset value.
func (e *Encoder) appendBlock(dst, p []byte, offset int, last bool) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, blockHeader)...)
	dst = e.appendLiterals(dst)
	dst = e.appendSequences(dst, offset)
	if size := len(dst) - at - blockHeader; size < len(p) {
		appendBlockHeader(dst[:at], typeCompressed, size, last)
		return dst
	}
	e.huffman.Reuse = huff0.ReusePolicyNone // decoders do not see this block's table
	return append(appendBlockHeader(dst[:at], typeRaw, len(p), last), p...)
}

// appendLiterals appends the literals section of a block (section 3.1.1.3.1).
func (e *Encoder) appendLiterals(dst []byte) []byte {
	literals := e.runs.literals
	kind, data := typeRaw, literals
	if len(literals) >= minHuffman {
		out, reused, err := huff0.Compress4X(literals, &e.huffman)
		switch {
		case err == huff0.ErrUseRLE:
			kind, data = typeRLE, literals[:1]
		case err == nil && reused:
			kind, data = typeTreeless, out
		case err == nil:
			kind, data = typeCompressed, out
			e.huffman.Reuse = huff0.ReusePolicyPrefer
		}
	}
	// The type, the size format (3: the longest) and the size of the literals.
	header, size := uint64(kind|3<<2|len(literals)<<4), 3
	if kind >= typeCompressed {
		header, size = header|uint64(len(data))<<22, 5
	}
	dst = binary.LittleEndian.AppendUint64(dst, header)
	return append(dst[:len(dst)-8+size], data...)
}

// appendSequences appends the sequences section of a block (section 3.1.1.3.2).
func (e *Encoder) appendSequences(dst []byte, offset int) []byte {
	const long = 0x7f00
	n := len(e.runs.sequences)
	switch {
	case n == 0:
		return append(dst, 0)
	case n < 128:
		dst = append(dst, byte(n))
	case n < long:
		dst = append(dst, byte(n>>8+128), byte(n))
	default:
		dst = append(dst, 255, byte(n-long), byte((n-long)>>8))
	}
	// The modes of the tables are followed by the tables.
	offsetCode := byte(bits.Len(uint(offset)) - 1)
	modes := len(dst)
	dst = append(dst, modeRLE<<4)
	dst, mode := e.fitted.literals.fit(dst, &e.runs.literalsCounts, n)
	dst[modes] |= mode << 6
	dst = append(dst, offsetCode)
	dst, mode = e.fitted.matches.fit(dst, &e.runs.matchCounts, n)
	dst[modes] |= mode << 2
	dst = appendSequenceBits(dst, e.runs.sequences, &e.fitted, offset)
	if n > maxPredefined {
		return dst
	}
	e.other = append(e.other[:0], modeRLE<<4, offsetCode)
	e.other = appendSequenceBits(e.other, e.runs.sequences, predefined(), offset)
	if len(e.other) < len(dst)-modes {
		dst = append(dst[:modes], e.other...)
	}
	return dst
}

// appendSequenceBits appends the bitstream of the sequences, which decoders read backwards: for
// each sequence, the additional bits of its offset, its match length and its literals length, and
// then the bits that lead to the next state of the literals lengths and that of the match lengths.
// Offsets have additional bits only in the blocks of appendLevels, which have one sequence each.
func appendSequenceBits(dst []byte, sequences []sequence, tables *pair, offset int) []byte {
	const perSequence = 7 // bytes: two states of at most 9 bits, two lengths of at most 16 bits
	at := len(dst)
	dst = slices.Grow(dst, perSequence*len(sequences)+16)
	dst = dst[:cap(dst)]
	literals, matches, last := &tables.literals, &tables.matches, sequences[len(sequences)-1]
	literalsState, matchState := literals.first(last.literalsCode()), matches.first(last.matchCode())
	pending, n := last.extra(), last.extraCount()
	offsetBits := uint8(bits.Len(uint(offset)) - 1)
	pending |= (uint64(offset) - 1<<offsetBits) << n
	n += offsetBits
	flush := func() {
		binary.LittleEndian.PutUint64(dst[at:], pending)
		at += int(n >> 3)
		pending >>= n &^ 7
		n &= 7
	}
	for i := len(sequences) - 2; i >= 0; i-- {
		flush()
		s := sequences[i]
		t := matches.symbols[s.matchCode()]
		k := uint8((matchState + t.bits) >> 16)
		pending |= uint64(matchState&(1<<k-1)) << n
		n += k
		matchState = uint32(matches.states[int32(matchState>>k)+t.offset])
		t = literals.symbols[s.literalsCode()]
		k = uint8((literalsState + t.bits) >> 16)
		pending |= uint64(literalsState&(1<<k-1)) << n
		n += k
		literalsState = uint32(literals.states[int32(literalsState>>k)+t.offset])
		pending |= s.extra() << n
		n += s.extraCount()
	}
	flush()
	for _, state := range []struct {
		value uint32
		bits  uint8
	}{{matchState, matches.log}, {literalsState, literals.log}, {1, 1}} { // a set bit ends the stream
		pending |= uint64(state.value&(1<<state.bits-1)) << n
		n += state.bits
	}
	binary.LittleEndian.PutUint64(dst[at:], pending)
	return dst[:at+int(n+7)>>3]
}
