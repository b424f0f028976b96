package text

import "testing"

// Three digits never become an exponent: 999.5 kB would be rounded to 1e+03 kB.
func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 9_912_422: "9.91 MB", 999_499: "999 kB",
		999_500: "1 MB", 999_500_000: "1 GB", 2_000_000_000_000: "2 TB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: found %s, expected %s", n, got, want)
		}
	}
}
