package png

// filters are the filters tried for each row (PNG §9.2). Average is left out: it seldom wins, and then by little.
var filters = [...]struct {
	number byte
	apply  func(dst, row, above []byte, pixelBytes int)
}{
	{0, func(dst, row, _ []byte, _ int) { copy(dst, row) }},
	{1, filterSub},
	{2, filterUp},
	{4, filterPaeth},
}

// filterSub takes from each byte the one a pixel to the left.
func filterSub(dst, row, _ []byte, pixelBytes int) {
	n := copy(dst, row[:pixelBytes])
	for i, left := range row[:len(row)-n] {
		dst[i+n] = row[i+n] - left
	}
}

// filterUp takes from each byte the one above.
func filterUp(dst, row, above []byte, _ int) {
	for i, b := range above {
		dst[i] = row[i] - b
	}
}

// filterPaeth takes from each byte that of its neighbours left, above and above left which is nearest to
// left + above − above left.
func filterPaeth(dst, row, above []byte, pixelBytes int) {
	for i := range pixelBytes {
		dst[i] = row[i] - above[i] // nothing to the left: Paeth predicts what is above
	}
	for i := pixelBytes; i < len(row); i++ {
		dst[i] = row[i] - paeth(int(row[i-pixelBytes]), int(above[i]), int(above[i-pixelBytes]))
	}
}

func paeth(left, above, aboveLeft int) byte {
	toLeft, toAbove := above-aboveLeft, left-aboveLeft // distances from the estimate
	toBoth := max(toLeft+toAbove, -toLeft-toAbove)
	toLeft, toAbove = max(toLeft, -toLeft), max(toAbove, -toAbove)
	switch {
	case toLeft <= toAbove && toLeft <= toBoth:
		return byte(left)
	case toAbove <= toBoth:
		return byte(above)
	}
	return byte(aboveLeft)
}

// magnitude returns the sum of the differences in line, taken as signed: the usual guess at what compresses best
// (PNG, "Filter selection").
func magnitude(line []byte) int {
	sum := 0
	for _, b := range line {
		sum += max(int(int8(b)), -int(int8(b)))
	}
	return sum
}
