package inflate

// Sizes of the alphabets. Each fixed code has two more symbols, which take up codes but must not
// occur.
const (
	literalSymbols  = 286
	distanceSymbols = 30
	lengthSymbols   = 19 // of the code for code lengths

	fixedLiteralSymbols  = 288
	fixedDistanceSymbols = 32

	endOfBlock = 256
)

// lengthOrder is the order in which the lengths of the code for code lengths are sent (RFC 1951,
// 3.2.7).
var lengthOrder = [lengthSymbols]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// The meanings of the symbols, as table entries with a code of no bits. They never change.
var (
	literalEntries  = makeLiteralEntries()
	distanceEntries = makeDistanceEntries()
)

// makeLiteralEntries implements the first table of 3.2.5: after eight lengths without extra bits,
// four each with 1 to 5.
func makeLiteralEntries() (entries [fixedLiteralSymbols]entry) {
	for s := range endOfBlock {
		entries[s] = literal | newEntry(s, 0)
	}
	entries[endOfBlock] = special | end
	base := 3
	for s := endOfBlock + 1; s < 285; s++ {
		extra := max(0, (s-261)/4)
		entries[s] = newEntry(base, extra)
		base += 1 << extra
	}
	entries[285] = newEntry(maxMatch, 0) // although 284 with its extra bits could express that, too
	entries[286], entries[287] = special, special
	return entries
}

// makeDistanceEntries implements the second table of 3.2.5: after four distances without extra
// bits, two each with 1 to 13.
func makeDistanceEntries() (entries [fixedDistanceSymbols]entry) {
	base := 1
	for s := range distanceSymbols {
		extra := max(0, s/2-1)
		entries[s] = newEntry(base, extra)
		base += 1 << extra
	}
	entries[30], entries[31] = special, special
	return entries
}
