package publish

import (
	"strings"
	"testing"
)

func TestWindowsName(t *testing.T) {
	t.Parallel()
	const stop, device = "it ends with a dot or space", "it is a device"
	cases := []struct{ name, better, reason string }{
		{"train.parquet", "train.parquet", ""},
		{"Pullover ±.csv", "Pullover ±.csv", ""},
		{".", ".", ""},
		{"..", "..", ""},
		{".hidden", ".hidden", ""},
		{"a\x7f", "a\x7f", ""},
		{"console.csv", "console.csv", ""},
		{"com10.csv", "com10.csv", ""},
		{"x.con", "x.con", ""},
		{"a?b.parquet", "a_b.parquet", `it has a "?"`},
		{"a:b.csv", "a_b.csv", `it has a ":"`},
		{`<a>|"*`, "_a____", `it has a "<"`},
		{"a\x01b\n", "a_b_", `it has a "\x01"`},
		{"con.csv:", "_con.csv_", `it has a ":"`},
		{"x.csv.", "x.csv", stop},
		{"x.csv . ", "x.csv", stop},
		{"...", "_", stop},
		{"con.", "_con", stop},
		{strings.Repeat("ü", 255), strings.Repeat("ü", 255), ""},
		{strings.Repeat("ü", 254) + ".csv", strings.Repeat("ü", 251) + ".csv", "it is longer than 255"},
		{"con.parquet", "_con.parquet", device},
		{"Aux", "_Aux", device},
		{"nul .tar.gz", "_nul .tar.gz", device},
		{"COM1.csv", "_COM1.csv", device},
		{"lpt².csv", "_lpt².csv", device},
		{"CONOUT$", "_CONOUT$", device},
	}
	for _, c := range cases {
		if better, reason := windowsName(c.name); better != c.better || reason != c.reason {
			t.Errorf("%q: found %q, %q, expected %q, %q", c.name, better, reason, c.better, c.reason)
		}
		if better, reason := windowsName(c.better); better != c.better || reason != "" {
			t.Errorf("%q, in place of %q: found %q, %q", c.better, c.name, better, reason)
		}
	}
}
