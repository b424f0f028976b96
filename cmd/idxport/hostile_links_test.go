package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// Links that somebody planted where an output goes never make the program write, replace or remove
// anything outside of it.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		link, to string // the link and what it leads to, both below the test's folder
		made     bool   // an output was made before the link was planted in it
		args     string // of convert, in DIR
		leaves   string // what stays at the output's place or appears where the link leads; else it is refused
	}{
		"a class folder":                     {"out/1", "victim", false, "-o png=DIR/out", ""},
		"a class folder, replaced":           {"out/1", "victim", false, "-o png=DIR/out --overwrite", ""},
		"a class folder of ours":             {"out/1", "victim", true, "-o png=DIR/out --overwrite", ""},
		"an image of ours":                   {"out/1/1.png", "victim/keep", true, "-o png=DIR/out --overwrite", ""},
		"a file beside ours":                 {"out/1/more", "victim/keep", true, "-o png=DIR/out --overwrite", ""},
		"the output folder":                  {"out", "victim", false, "-o png=DIR/out --overwrite", ""},
		"the output file":                    {"x.csv", "victim/keep", false, "-o DIR/x.csv", ""},
		"a split in a container":             {"out/a", "victim", false, "-o DIR/out --to png --overwrite", ""},
		"the lock":                           {".x.csv.idxport", "victim/lock", false, "-o DIR/x.csv", ""},
		"itself":                             {"x.csv", "x.csv", false, "-o DIR/x.csv --overwrite", ""},
		"itself, as a folder on the way":     {"out", "out", false, "-o DIR/out/x.csv", ""},
		"itself, as the folder of an output": {"out", "out", false, "-o png=DIR/out", ""},
		// Links are followed, as cp does.
		"a new output file": {"x.csv", "elsewhere/new.csv", false, "-o DIR/x.csv", "elsewhere/new.csv"},
		"nowhere":           {"x.csv", "gone/x.csv", false, "-o DIR/x.csv", "gone/x.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			inputs := convertLabelled(t, []string{"a", "b", "c"})[:3]
			must.Do(t, errors.Join(os.Mkdir(in("victim"), 0o777), os.Mkdir(in("elsewhere"), 0o777)))
			writeFile(t, in("victim"), "keep", []byte("keep"))
			if c.made {
				succeed(t, append(inputs, "-o", "png="+in("out"))...)
			}
			link := in(c.link)
			must.Do(t, errors.Join(os.RemoveAll(link), os.MkdirAll(filepath.Dir(link), 0o777)))
			must.Link(t, in(c.to), link)
			before := contents(t, in("victim"))
			code, said := runProgram(append(inputs, strings.Fields(strings.Replace(c.args, "DIR", dir, 1))...)...)
			if (code == exitOK) != (c.leaves != "") || code != exitOK && code != exitCannotMake {
				t.Errorf("exit code %d: %s", code, said)
			}
			after := contents(t, in("victim"))
			if !maps.EqualFunc(before, after, slices.Equal) {
				t.Errorf("found %q where the link leads, expected %q", after, before)
			}
			if target, err := os.Readlink(link); err != nil || target != in(c.to) {
				t.Errorf("the link leads to %q, %v", target, err)
			}
			if c.leaves != "" {
				if info, err := os.Lstat(in(c.leaves)); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
					t.Errorf("%s: %v", c.leaves, err)
				}
			}
			for name := range contents(t, dir) {
				if strings.Contains(name+string(filepath.Separator), ".partial"+string(filepath.Separator)) {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}

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
