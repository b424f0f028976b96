package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Links that somebody planted where an output goes never make the program write, replace or remove
// anything outside of it.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		link, to string   // the link and what it leads to, both below the test's folder
		made     bool     // an output was made before the link was planted in it
		args     []string // of convert; OUT is the output
		code     int
		leaves   string // what stays at the output's place or appears where the link leads
	}{
		"a class folder":                     {"out/1", "victim", false, []string{"-o", "png=OUT"}, exitCannotMake, ""},
		"a, class folder, replaced":          {"out/1", "victim", false, []string{"-o", "png=OUT", "--overwrite"}, exitCannotMake, ""},
		"a class folder of ours":             {"out/1", "victim", true, []string{"-o", "png=OUT", "--overwrite"}, exitCannotMake, ""},
		"an image of ours":                   {"out/1/1.png", "victim/keep", true, []string{"-o", "png=OUT", "--overwrite"}, exitCannotMake, ""},
		"a file beside ours":                 {"out/1/more", "victim/keep", true, []string{"-o", "png=OUT", "--overwrite"}, exitCannotMake, ""},
		"the output folder":                  {"out", "victim", false, []string{"-o", "png=OUT", "--overwrite"}, exitCannotMake, ""},
		"the output file":                    {"x.csv", "victim/keep", false, []string{"-o", "x.csv"}, exitCannotMake, ""},
		"a new output file":                  {"x.csv", "elsewhere/new.csv", false, []string{"-o", "x.csv"}, exitOK, "elsewhere/new.csv"}, // links are followed, as cp does
		"a split in a container":             {"out/a", "victim", false, []string{"-o", "OUT", "--to", "png", "--overwrite"}, exitCannotMake, ""},
		"the lock":                           {".x.csv.idxport", "victim/lock", false, []string{"-o", "x.csv"}, exitCannotMake, ""},
		"nowhere":                            {"x.csv", "gone/x.csv", false, []string{"-o", "x.csv"}, exitOK, "gone/x.csv"},
		"itself":                             {"x.csv", "x.csv", false, []string{"-o", "x.csv", "--overwrite"}, exitCannotMake, ""},
		"itself, as a folder on the way":     {"out", "out", false, []string{"-o", "OUT/x.csv"}, exitCannotMake, ""},
		"itself, as the folder of an output": {"out", "out", false, []string{"-o", "png=OUT"}, exitCannotMake, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			inputs := labelled(t, []string{"a", "b", "c"})[:2]
			for _, folder := range []string{"victim", "elsewhere"} {
				if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "victim", "keep"), []byte("keep"), 0o666); err != nil {
				t.Fatal(err)
			}
			if c.made {
				if code, said := runProgram(append([]string{"convert", "-o", "png=" + filepath.Join(dir, "out")}, inputs...)...); code != exitOK {
					t.Fatal(said)
				}
			}
			link := filepath.Join(dir, c.link)
			if err := os.RemoveAll(link); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, c.to), link); err != nil {
				t.Skip(err)
			}
			before := contents(t, filepath.Join(dir, "victim"))
			args := slices.Concat([]string{"convert"}, inputs)
			for _, a := range c.args {
				a = strings.Replace(a, "OUT", filepath.Join(dir, "out"), 1)
				if a == "x.csv" {
					a = filepath.Join(dir, a)
				}
				args = append(args, a)
			}
			code, said := runProgram(args...)
			if code != c.code {
				t.Errorf("exit code %d, expected %d: %s", code, c.code, said)
			}
			after := contents(t, filepath.Join(dir, "victim"))
			if !maps.EqualFunc(before, after, slices.Equal) {
				t.Errorf("found %v where the link leads, expected %v", slices.Collect(maps.Keys(after)), slices.Collect(maps.Keys(before)))
			}
			if target, err := os.Readlink(link); err != nil || target != filepath.Join(dir, c.to) {
				t.Errorf("the link leads to %q, %v", target, err)
			}
			if c.leaves != "" {
				if info, err := os.Lstat(filepath.Join(dir, c.leaves)); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
					t.Errorf("%s: %v", c.leaves, err)
				}
			}
			for name := range contents(t, dir) {
				if strings.HasSuffix(name, ".partial") || strings.Contains(name, ".partial"+string(filepath.Separator)) {
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
	inputs := labelled(t, []string{"a", "b"})
	tree := filepath.Join(dir, "tree")
	if code, said := runProgram(append([]string{"convert", "-o", "png=" + tree}, inputs...)...); code != exitOK {
		t.Fatal(said)
	}
	outside := filepath.Join(dir, "outside")
	if err := os.CopyFS(outside, os.DirFS(tree)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		link, to string
		code     int
		says     string
	}{
		{"0/9.png", filepath.Join(outside, "0", "0.png"), exitData, "does not lead to a file or a folder within the folder"},
		{"2", outside, exitData, "does not lead to a file or a folder within the folder"},
		{"3", filepath.Join(outside, "1"), exitData, "does not lead to a file or a folder within the folder"},
		{"0/9.png", "9.png", exitData, "does not lead to a file or a folder within the folder"},
		{"NOTES", filepath.Join(outside, "0", "0.png"), exitData, "does not lead to a file or a folder within the folder"},
		{"0/9.png", "0.png", exitOK, "3 rows"},
	} {
		link := filepath.Join(tree, filepath.FromSlash(c.link))
		if err := os.Symlink(c.to, link); err != nil {
			t.Skip(err)
		}
		out := filepath.Join(t.TempDir(), "x.csv")
		if code, said := runProgram("convert", tree, "-o", out); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s to %s: exit code %d, expected %d with %q: %s", c.link, c.to, code, c.code, c.says, said)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	dash := filepath.Join(dir, "-")
	if err := os.WriteFile(dash, encodeIDX(sample(0x08)), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, said := runProgram("convert", dash, "-o", filepath.Join(dir, "dash.npy")); code != exitOK {
		t.Errorf("exit code %d: %s", code, said)
	}
}
