package formats

import "testing"

// TestByNumbers compares names in both orders: numbers count by their value alone, as the sort is stable, and a name comes before those that go on after it.
func TestByNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"part-2", "part-10", -1}, {"part-02", "part-10", -1}, {"part-2", "part-010", -1}, {"part-2", "part-02", 0}, {"part-9a", "part-10", -1},
		{"part-1", "part-1.gz", -1}, {"", "part", -1}, {"a1", "b0", -1}, {"1", "a", -1}, {"part-0", "part-0", 0}, {"", "", 0},
		{"99999999999999999999", "100000000000000000000", -1}, // more than 64 bits
	} {
		if got, back := byNumbers(c.a, c.b), byNumbers(c.b, c.a); got != c.want || back != -c.want {
			t.Errorf("%q and %q: found %d, and %d the other way round, expected %d", c.a, c.b, got, back, c.want)
		}
	}
}
