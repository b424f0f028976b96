package inflate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestFindFindsEveryBlock compares with the reference: every dynamic block that is not the last is
// found, wherever the search begins, unless something that looks like a header comes before.
func TestFindFindsEveryBlock(t *testing.T) {
	t.Parallel()
	d := new(decoder)
	for name, raw := range manyBlocks() {
		starts := dynamicBlocks(t, raw)
		from := 0
		for _, start := range starts {
			if start > 8*(len(raw)-findMargin) {
				break
			}
			got := d.find(raw, from, 8*len(raw))
			if got != start {
				t.Errorf("%s: found a block at bit %d, expected %d", name, got, start)
			}
			from = start + 1
		}
	}
}

// dynamicBlocks returns the bits where dynamic blocks other than the last begin, found by decoding
// from the start.
func dynamicBlocks(t *testing.T, raw []byte) (starts []int) {
	t.Helper()
	d := new(decoder)
	d.out, d.limit = make([]byte, 4_000_000), 3_000_000
	d.startAt(raw, 0)
	for err := error(nil); err == nil; err = d.step() {
		if bit := d.bit(); d.state == atHeader && raw[bit/8]>>(bit%8)&1 == 0 && kind(raw, bit+1) == 2 {
			starts = append(starts, bit)
		}
	}
	return starts
}

func kind(raw []byte, bit int) int {
	return int(raw[bit/8]>>(bit%8)&1) | int(raw[(bit+1)/8]>>((bit+1)%8)&1)<<1
}

// TestFindSkipsNothing compares the quick checks with header, at every bit of noise and of streams.
func TestFindSkipsNothing(t *testing.T) {
	t.Parallel()
	d := new(decoder)
	for name, raw := range map[string][]byte{"noise": contents()["noise"][:20_000], "stream": manyBlocks()["image level 6"][:20_000]} {
		found := d.find(raw, 0, 8*len(raw))
		for bit := range 8 * (len(raw) - findMargin) {
			d.startAt(raw, bit)
			dynamic := d.header() == nil && !d.final && d.codes == &d.dynamic
			if complete := dynamic && usesUp(raw, bit) && plausible(d.literalLengths); complete != (bit == found) {
				t.Fatalf("%s: bit %d: found a header: %v, expected %v", name, bit, bit == found, complete)
			}
			if bit == found {
				found = d.find(raw, bit+1, 8*len(raw))
			}
		}
	}
}

// plausible reports whether the literal code is complete and has an end of the block, by adding up
// its fractions.
func plausible(lengths []uint8) bool {
	sum := 0.0
	for _, n := range lengths {
		if n != 0 {
			sum += 1 / float64(int(1)<<n)
		}
	}
	return sum == 1 && lengths[256] != 0
}

// usesUp reports whether the code for code lengths is complete, by adding up its fractions.
func usesUp(raw []byte, bit int) bool {
	at := func(bit, n int) (v int) {
		for i := range n {
			v |= int(raw[(bit+i)/8]>>((bit+i)%8)&1) << i
		}
		return v
	}
	sum := 0.0
	for i := range at(bit+13, 4) + 4 {
		if n := at(bit+17+3*i, 3); n != 0 {
			sum += 1 / float64(int(1)<<n)
		}
	}
	return sum == 1
}

func TestFindStopsAtTo(t *testing.T) {
	t.Parallel()
	raw := manyBlocks()["image level 6"]
	starts := dynamicBlocks(t, raw)
	d := new(decoder)
	if got := d.find(raw, starts[1]+1, starts[2]); got != -1 {
		t.Errorf("found a block at %d, expected none before %d", got, starts[2])
	}
	if got := d.find(raw, starts[1]+1, starts[2]+1); got != starts[2] {
		t.Errorf("found a block at %d, expected %d", got, starts[2])
	}
}

// TestFindGivesUp has, at every second bit, a header with a complete code for code lengths, but bad
// code lengths: reading them all would take seconds. A search as short as a piece of the smallest
// segment still finds what follows.
func TestFindGivesUp(t *testing.T) {
	t.Parallel()
	d, tables := new(decoder), findTables()
	hostile := bytes.Repeat([]byte{0xaa, 0xcc}, 256<<10)
	tries := 0
	for bit := range 8 * (len(hostile) - findMargin) {
		v := binary.LittleEndian.Uint64(hostile[bit>>3:]) >> (bit & 7)
		if tables.skips[v&(1<<skipBits-1)] == 0 && tables.completeLengthCode(hostile, bit, v) {
			tries++
		}
	}
	if tries < 16*(firstTries+8*len(hostile)/bitsPerTry) {
		t.Fatalf("found %d tries, expected far more than find makes", tries)
	}
	raw := manyBlocks()["image level 6"]
	start := dynamicBlocks(t, raw)[1]
	whole := append(hostile, raw[start/8:]...)
	if got := d.find(whole, 0, 8*len(whole)); got != -1 {
		t.Errorf("found a block at bit %d, expected that the search ends before", got)
	}
	if got, want := d.find(whole, 8*len(hostile), 8*len(whole)), 8*len(hostile)+start%8; got != want {
		t.Errorf("found a block at bit %d, expected %d", got, want)
	}
}

// TestResolve compares with looking up one unit after another.
func TestResolve(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	var m meanings
	m.setBytes()
	for i := range m.markers() {
		m.markers()[i] = byte(random.Uint32())
	}
	for range 300 {
		n := random.IntN(70)
		units, want := make([]byte, 2*n), make([]byte, n)
		for i := range n {
			if random.IntN(8) == 0 {
				at := random.IntN(maxDistance)
				units[2*i], units[2*i+1] = byte(at), 1<<7|byte(at>>8)
				want[i] = m.markers()[at]
			} else {
				want[i] = byte(random.Uint32())
				units[2*i] = want[i]
			}
		}
		dst := make([]byte, random.IntN(70))
		got := m.resolve(dst, units)
		if got != min(len(dst), n) || !bytes.Equal(dst[:got], want[:got]) {
			t.Fatalf("%d units to %d bytes: found %d bytes, %x, expected %x", n, len(dst), got, dst, want)
		}
	}
}
