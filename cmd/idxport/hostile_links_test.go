package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// Links in a folder of images lead nowhere else, and a file called - is a file where it is asked
// for as one.
func TestPlantedInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree, outside := filepath.Join(dir, "tree"), filepath.Join(dir, "outside")
	succeed(t, convertLabelled(t, []string{"a", "b"}, "-o", "png="+tree, "-o", dir+"/names.arrow")...)
	must.Do(t, os.CopyFS(outside, os.DirFS(tree)))
	const refused = "does not lead to a file or a folder within the folder"
	for _, c := range []struct {
		link, to string
		code     int
		says     string
	}{
		{"0/9.png", filepath.Join(outside, "0", "0.png"), exitData, refused},
		{"2", outside, exitUsage, "found both"},
		{"3", filepath.Join(outside, "1"), exitData, refused},
		{"0/9.png", "9.png", exitNoInput, "the link leads to nothing"},
		{"NOTES", filepath.Join(outside, "0", "0.png"), exitData, refused},
		{"0/9.png", "0.png", exitOK, "3 rows"},
	} {
		link := filepath.Join(tree, filepath.FromSlash(c.link))
		must.Link(t, c.to, link)
		out := filepath.Join(t.TempDir(), "x.csv")
		if code, said := runProgram("convert", tree, "-o", out); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s to %s: exit code %d, expected %d with %q: %s", c.link, c.to, code, c.code, c.says, said)
		}
		must.Do(t, os.Remove(link))
	}
	succeed(t, "convert", writeFile(t, dir, "-", encodeIDX(sample(0x08))), "-o", filepath.Join(dir, "dash.npy"))
}
