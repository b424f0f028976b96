package publish

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
)

func TestWindowsReason(t *testing.T) {
	t.Parallel()
	const stop, device = "it ends with a dot or space", "it is the name of a device"
	for name, want := range map[string]string{
		"train.parquet": "", "Pullover ±.csv": "", ".": "", "..": "", ".hidden": "", "a\x7f": "", "console.csv": "",
		"com10.csv": "", "x.con": "", "_con.parquet": "",
		"a?b.parquet": `it has a "?"`, "a:b.csv": `it has a ":"`, `<a>|"*`: `it has a "<"`, "a\x01b\n": `it has a "\x01"`,
		"con.csv:": `it has a ":"`, "x.csv.": stop, "x.csv . ": stop, "...": stop, "con.": stop,
		strings.Repeat("ü", 255): "", strings.Repeat("ü", 252) + ".csv": "it is longer than 255 characters",
		"con.parquet": device, "Aux": device, "nul .tar.gz": device, "COM1.csv": device, "lpt².csv": device,
		"CONOUT$": device,
	} {
		if found := windowsReason(name); found != want {
			t.Errorf("%q: found %q, expected %q", name, found, want)
		}
	}
}

// TestHidden keeps short names, and gives long ones hidden names that differ.
func TestHidden(t *testing.T) {
	t.Parallel()
	const tail = ".idxport-0123456789abcdef-0123456789abcdef-0123456789abcdef.made"
	short := strings.Repeat("x", maxName-1-len(tail))
	if found := hidden(short, tail); found != "."+short+tail {
		t.Errorf("found %q", found)
	}
	seen := map[string]bool{}
	cut := strings.Repeat("x", 63) + strings.Repeat("ü", 96)
	for _, base := range []string{short + "a", short + "b", short + "ü", cut, strings.Repeat("\x80", maxName)} {
		name := hidden(base, tail)
		if seen[name] || len(name) > maxName || !utf8.ValidString(name) || !strings.HasSuffix(name, tail) {
			t.Errorf("%q: found %q, of %d bytes", base, name, len(name))
		}
		seen[name] = true
	}
}

// TestLongNames makes outputs with the longest names that a file system takes.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName)
	err := commitFile(filepath.Join(t.TempDir(), long+"x"), "new", Options{})
	if want := "shorten the name of 256 bytes to 255, the limit of file systems"; fault.HintOf(err) != want {
		t.Errorf("found %v with the hint %q, expected %q", err, fault.HintOf(err), want)
	}
	wide, invalid := "x"+strings.Repeat("ü", 127), strings.Repeat("\xff", maxName)
	for _, name := range []string{long[:207], long[:208], long[:221], long[:222], long, wide, invalid} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		const partial = hiddenInfix + "0123456789abcdef" + partialSuffix
		plant(t, dir, tree{hidden(name, partial): "", hidden(long[:maxName-1], partial): ""})
		s, err := Prepare([]Target{{Path: path, Key: oneKey}}, Options{})
		if err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
			continue
		}
		_, err = Prepare([]Target{{Path: path}}, Options{})
		refuses(t, err, fault.Locked, "another run")
		if err := s.Commit(); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		for key, want := range map[string]bool{oneKey: true, otherKey: false} {
			if same, err := UpToDate(path, key); same != want || err != nil {
				t.Errorf("%d bytes: found %v, %v, expected %v", len(name), same, err, want)
			}
		}
		if found := readTree(t, dir); len(found) != 3 { // the output, its record, and the partial of the other target
			t.Errorf("%d bytes: found %v", len(name), found)
		}
	}
}
