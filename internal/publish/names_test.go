package publish

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

func TestUnstorable(t *testing.T) {
	t.Parallel()
	for want, names := range map[bool][]string{
		false: {"train.parquet", "Pullover ±.csv", ".", "..", ".hidden", "a\x7f", "console.csv", "com10.csv", "x.con",
			"_con.parquet"},
		true: {"a?b.parquet", "a:b.csv", `<a>|"*`, "a\x01b", "x.csv.", "x.csv . ", " ", "...", "con.", "con.parquet",
			"Aux",
			"nul .tar.gz", "COM1.csv", "lpt².csv", "CONOUT$", strings.Repeat("ü", 256)},
	} {
		for _, name := range names {
			if found := unstorable.MatchString(name); found != want {
				t.Errorf("%q: found %v, expected %v", name, found, want)
			}
		}
	}
}

// TestLongNames makes outputs with the longest names that a file system takes.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName)
	err := commitFile(filepath.Join(t.TempDir(), long+"x"), "new", Options{})
	if want := "shorten the path or the name, which may have 255 bytes"; fault.HintOf(err) != want {
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
