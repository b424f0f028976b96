package source

import (
	"cmp"
	"path/filepath"
	"testing"
)

// TestNamesOfFilesAndURLs takes names apart and puts them together. A scheme has at least two
// letters, a drive of Windows one.
func TestNamesOfFilesAndURLs(t *testing.T) {
	t.Parallel()
	beside := "link/../x"
	if filepath.Separator != '/' { // Windows takes .. away before it looks for links
		beside = "x"
	}
	for name, want := range map[string]struct{ above, base, below string }{
		"s3://bucket/a%20b/c":         {"s3://bucket/a%20b/", "c", "s3://bucket/a%20b/c/x"},
		"s3://bucket/a%20b":           {"s3://bucket/", "a%20b", "s3://bucket/a%20b/x"},
		"https://host/a%20b":          {"https://host/", "a b", "https://host/a%20b/x"},
		"https://host/a%2Fb":          {"https://host/", "a%2Fb", "https://host/a%2Fb/x"},
		"https://host/a%0Ab":          {"https://host/", "a%0Ab", "https://host/a%0Ab/x"},
		"https://host/dir/":           {"https://host/dir/", "", "https://host/dir/x"},
		filepath.FromSlash("a//b/"):   {filepath.FromSlash("a/b"), "b", filepath.FromSlash("a/b/x")},
		filepath.FromSlash("link/.."): {"link", "..", beside},
	} {
		if above, base, below := Above(name), Base(name), Under(name, "x"); above != want.above || base != want.base ||
			below != want.below {
			t.Errorf("%s: found %q, %q and %q, expected %q", name, above, base, below, want)
		}
	}
}

// TestCompareNames compares each of these names with each: they are in order.
func TestCompareNames(t *testing.T) {
	t.Parallel()
	names := []string{"", "1", "2x", "10", "a", "a1", "a01", "a2", "a2.png", "a10", "a10b", "a11", "ab", "b1",
		"b1-2", "b1-10"}
	for i, a := range names {
		for k, b := range names {
			if got, want := CompareNames(a, b), cmp.Compare(i, k); got != want {
				t.Errorf("%q and %q: found %d, expected %d", a, b, got, want)
			}
		}
	}
}
