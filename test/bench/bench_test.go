//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplaceSectionLeavesNotes(t *testing.T) {
	t.Parallel()
	const text = "# Results\n<!-- begin contests -->\nold\n<!-- end contests -->\nnotes\n<!-- begin scale -->\n<!-- end scale -->\nmore notes\n"
	const want = "# Results\n<!-- begin contests -->\nnew\n<!-- end contests -->\nnotes\n<!-- begin scale -->\n<!-- end scale -->\nmore notes\n"
	got, err := replaceSection(text, "contests", "new\n")
	if err != nil || got != want {
		t.Errorf("found %q, %v, expected %q", got, err, want)
	}
}

func TestReplaceSectionTakesMarkersForLines(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- begin scale -->\n", "<!-- end scale -->\n"
	const text = "notes end before " + begin + begin + "old, before " + end + end + "more notes\n"
	const want = "notes end before " + begin + begin + "new\n" + end + "more notes\n"
	got, err := replaceSection(text, "scale", "new\n")
	if err != nil || got != want {
		t.Errorf("found %q, %v, expected %q", got, err, want)
	}
}

func TestReplaceSectionRefusesOtherMarkers(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- begin scale -->\n", "<!-- end scale -->\n"
	for name, text := range map[string]string{
		"none":          "notes\n",
		"no end":        begin + "notes\n",
		"no begin":      "notes\n" + end,
		"two of a kind": begin + end + begin + end,
		"end first":     end + begin,
		"two in a row":  begin + begin + end,
		"within a line": "see " + begin + "see " + end,
	} {
		if got, err := replaceSection(text, "scale", "new\n"); err == nil {
			t.Errorf("%s: found %q, expected an error", name, got)
		}
	}
}

// TestResultsHaveMarkers finds out that -write would fail before somebody has waited a quarter of
// an hour.
func TestResultsHaveMarkers(t *testing.T) {
	t.Parallel()
	for _, scale := range []bool{false, true} {
		s := settings{write: "RESULTS.md", scale: scale, withLarge: true}
		if err := s.checkWrite(); err != nil {
			t.Error(err)
		}
	}
}

func TestPartOfTheContestsIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]settings{
		"-only":        {write: "RESULTS.md", withLarge: true, only: "arrow"},
		"-large=false": {write: "RESULTS.md"},
	} {
		if err := s.checkWrite(); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

func TestNoRunsAreRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, -1} {
		s := settings{runs: n}
		if err := s.check(nil, nil); err == nil || !strings.Contains(err.Error(), "-n") {
			t.Errorf("-n %d: found %v", n, err)
		}
	}
}

func TestCheckSpaceNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := checkSpace(folder, 1, 1); err != nil {
		t.Errorf("a byte: %v", err)
	}
	err := checkSpace(folder, 1e18, 0)
	if err == nil || !strings.Contains(err.Error(), folder+" needs 1000000000.0 GB of space") {
		t.Errorf("10¹⁸ bytes: found %v", err)
	}
	left := filepath.Join(folder, folderPrefix+"1")
	if err := os.Mkdir(left, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := checkSpace(folder, 1e18, 0); err == nil || !strings.Contains(err.Error(), left) {
		t.Errorf("beside a killed run's folder: found %v, expected its name", err)
	}
}

func TestContainerMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit, stat string
		want        float64
	}{
		"no limit":   {"max\n", "anon 5\n", math.Inf(1)},
		"with limit": {"1000\n", "anon 100\nfile 700\nkernel 20\nshmem 50\n", 850},
		"no stat":    {"1000\n", "", 1000},
	} {
		group := t.TempDir()
		for file, text := range map[string]string{"memory.max": c.limit, "memory.stat": c.stat} {
			if err := os.WriteFile(filepath.Join(group, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := containerMemory(group); got != c.want {
			t.Errorf("%s: found %v bytes, expected %v", name, got, c.want)
		}
	}
	if got := containerMemory(filepath.Join(t.TempDir(), "none")); !math.IsInf(got, 1) {
		t.Errorf("no group: found %v bytes, expected no limit", got)
	}
}

// TestInputIsIDX checks made inputs against the format: header, size, values between 0 and 1, most
// of them 0.
func TestInputIsIDX(t *testing.T) {
	t.Parallel()
	const records = 9000 // more than what repeats
	for name, header := range map[string][]byte{
		"uint8":   {0, 0, 0x08, 3, 0, 0, 0x23, 0x28, 0, 0, 0, 28, 0, 0, 0, 28},
		"float32": {0, 0, 0x0d, 3, 0, 0, 0x23, 0x28, 0, 0, 0, 28, 0, 0, 0, 28},
	} {
		path := filepath.Join(t.TempDir(), "x.idx")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		size := largeInputs[name].size
		err = writeIDX(f, largeInputs[name], int64(records*784*size+100))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		text, readErr := os.ReadFile(path)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		if len(text) != 16+records*784*size || !bytes.Equal(text[:16], header) {
			t.Fatalf("%s: found %d bytes that begin with % x, expected %d and % x", name, len(text), text[:16], 16+records*784*size, header)
		}
		zeros := 0
		for p := text[16:]; len(p) > 0; p = p[size:] {
			v := float64(p[0]) / 255
			if size == 4 {
				v = float64(math.Float32frombits(binary.BigEndian.Uint32(p)))
			}
			if v < 0 || v > 1 {
				t.Fatalf("%s: found %v, expected 0 to 1", name, v)
			}
			if v == 0 {
				zeros++
			}
		}
		if share := float64(zeros) / (records * 784); share < 0.79 || share > 0.82 {
			t.Errorf("%s: %.3f of the values are 0, expected about four fifths", name, share)
		}
	}
}
