package source

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/idxport/idxport/internal/fault"
)

// A Selection is some rows of a table, in the order of the table unless it was shuffled. It takes
// one bit for each row of the table, and 8 bytes for each selected row once it is shuffled. The
// zero value is a selection of a table without rows.
type Selection struct {
	TableRows int64 // number of rows of the table, selected or not; Append counts them
	First     int64 // if Part made this selection: number of rows of the divided selection before these
	// StopEarly tells Select not to read on after the last selected row. Otherwise an input that
	// can only be read from its start is read to its end, so that damage there is found.
	StopEarly bool

	kept  []uint64 // bit i%64 of word i/64: row i is selected
	count int64    // number of selected rows
	order []int64  // the selected rows in their order, if they were shuffled
}

// Append adds the next row of the table, and selects it or not.
func (s *Selection) Append(selected bool) {
	if s.TableRows%64 == 0 {
		s.kept = append(s.kept, 0)
	}
	if selected {
		s.keep(s.TableRows)
	}
	s.TableRows++
}

func (s *Selection) keep(row int64) {
	s.kept[row/64] |= 1 << (row % 64)
	s.count++
}

// Len returns the number of selected rows.
func (s *Selection) Len() int64 { return s.count }

// next returns the first selected row that is not before row, and the number of selected rows that
// begin there, at most limit; n is 0 if none is left.
func (s *Selection) next(row int64, limit int64) (first, n int64) {
	first = s.scan(row, 0)
	return first, min(limit, s.scan(first, ^uint64(0))-first)
}

// scan returns the first row, not before row, whose bit differs from those of pattern, which is all
// zeros or all ones, or else the number of rows.
func (s *Selection) scan(row int64, pattern uint64) int64 {
	for i := row / 64; i < int64(len(s.kept)); i++ {
		word := s.kept[i] ^ pattern
		if i == row/64 {
			word &= ^uint64(0) << (row % 64)
		}
		if word != 0 {
			return min(s.TableRows, i*64+int64(bits.TrailingZeros64(word)))
		}
	}
	return s.TableRows
}

// each calls f with every selected row, in the order of the table.
func (s *Selection) each(f func(row int64)) {
	for i, word := range s.kept {
		for ; word != 0; word &= word - 1 {
			f(int64(i)*64 + int64(bits.TrailingZeros64(word)))
		}
	}
}

// Streams of random numbers: the two halves of a generator's state are the seed and one of these.
const (
	HoldOutStream = 1
	ShuffleStream = 2
)

// NewRandom returns the generator of a stream. Its numbers, those of PCG-DXSM, do not change with
// the platform or the version of Go.
func NewRandom(seed, stream uint64) *rand.PCG { return rand.NewPCG(seed, stream) }

// below returns a uniform number below n (Lemire, Fast Random Integer Generation in an Interval).
func below(r *rand.PCG, n uint64) uint64 {
	high, low := bits.Mul64(r.Uint64(), n)
	for low < -n%n {
		high, low = bits.Mul64(r.Uint64(), n)
	}
	return high
}

// HoldOut removes n rows at random from s, which must not be shuffled, and returns them. The
// stratum of row i of the table is strata[i]; without strata, all rows are in one. See quotas for
// the share of each. A row is removed with the probability q/n if q of the n remaining rows of its
// stratum are still to be removed (Knuth, The Art of Computer Programming 2, algorithm S).
func (s *Selection) HoldOut(n int64, strata []uint16, r *rand.PCG) *Selection {
	step := int64(1)
	if len(strata) == 0 {
		strata, step = []uint16{0}, 0 // the stratum of every row
	}
	rowsLeft := make([]int64, 1+int(slices.Max(strata)))
	s.each(func(row int64) { rowsLeft[strata[row*step]]++ })
	quotaLeft := quotas(n, rowsLeft)
	held := &Selection{TableRows: s.TableRows, kept: make([]uint64, len(s.kept)), StopEarly: s.StopEarly}
	s.each(func(row int64) {
		i := strata[row*step]
		if below(r, uint64(rowsLeft[i])) < uint64(quotaLeft[i]) {
			quotaLeft[i]--
			s.kept[row/64] &^= 1 << (row % 64)
			s.count--
			held.keep(row)
		}
		rowsLeft[i]--
	})
	return held
}

// quotas divides n rows among strata in proportion to counts, the numbers of rows in the strata,
// whose sum must be at least n. Shares are rounded down. The rows left over go, one each, to the
// strata that lost most by rounding; of strata that lost the same, the first come first.
func quotas(n int64, counts []int64) []int64 {
	shares, lost, order := make([]int64, len(counts)), make([]uint64, len(counts)), make([]int, len(counts))
	total, left := uint64(0), n
	for _, c := range counts {
		total += uint64(c)
	}
	for i, c := range counts {
		high, low := bits.Mul64(uint64(n), uint64(c))
		share, rest := bits.Div64(high, low, max(total, 1)) // no rows are no shares
		shares[i], lost[i], order[i] = int64(share), rest, i
		left -= shares[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	for _, i := range order[:left] {
		shares[i]++
	}
	return shares
}

// Shuffle puts the selected rows in a random order: each row, from the last to the second, is
// swapped with a random row that is not after it (Fisher and Yates).
func (s *Selection) Shuffle(r *rand.PCG) error {
	const maxShuffled = 1 << 28 // rows: their order takes 2 GiB
	if s.count > maxShuffled {
		return fault.New(fault.Usage, "cannot shuffle %d rows, expected at most %d", s.count, maxShuffled)
	}
	s.order = make([]int64, 0, s.count)
	s.each(func(row int64) { s.order = append(s.order, row) })
	for i := len(s.order) - 1; i > 0; i-- {
		j := below(r, uint64(i+1))
		s.order[i], s.order[j] = s.order[j], s.order[i]
	}
	return nil
}

// Part returns the rows first to last−1 of s. Only with the last row is the file's end checked.
func (s *Selection) Part(first, last int64) *Selection {
	part := &Selection{TableRows: s.TableRows, kept: make([]uint64, len(s.kept)), First: s.First + first,
		StopEarly: s.StopEarly || last < s.count}
	if s.order != nil {
		part.order = s.order[first:last]
		for _, row := range part.order {
			part.keep(row)
		}
		return part
	}
	i := int64(0)
	s.each(func(row int64) {
		if first <= i && i < last {
			part.keep(row)
		}
		i++
	})
	return part
}
