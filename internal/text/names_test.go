package text

import (
	"strings"
	"testing"
)

func TestIsURL(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"s3://a": true, "x://a": false, "S3://a": false, "://a": false,
		"s3:/a": true, "s3:a": false, "ab:/a": false, "./s3:/a": false} {
		if IsURL(name) != want {
			t.Errorf("%s: found a URL: %v, expected %v", name, !want, want)
		}
	}
}

func TestStorable(t *testing.T) {
	t.Parallel()
	for want, names := range map[bool][]string{
		true: {"train.parquet", "Pullover ±.csv", ".", "..", ".hidden", "a\x7f", "console.csv", "com10.csv", "x.con",
			"_con.parquet"},
		false: {"a?b.parquet", "a:b.csv", `<a>|"*`, "a\x01b", "x.csv.", "x.csv . ", " ", "...", "con.", "con.parquet",
			"Aux", "nul .tar.gz", "COM1.csv", "lpt².csv", "CONOUT$", strings.Repeat("ü", 256)},
	} {
		for _, name := range names {
			if found := Storable(name); found != want {
				t.Errorf("%q: found %v, expected %v", name, found, want)
			}
		}
	}
}
