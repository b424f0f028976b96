package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	over := Options{Overwrite: true}
	inputs := func(path string) Options { return Options{Overwrite: true, Inputs: []string{path}} }
	file, folder := []Target{{Path: "x"}}, []Target{{Path: "x", Folder: true}}
	for _, c := range []struct {
		name    string
		has     tree
		targets []Target // below the test's folder unless absolute
		o       Options
		want    error
		says    string
	}{
		{"a file that is a folder", tree{"x/f": ""}, file, over, fault.Refused, "is a folder"},
		{"a file that is a folder of parts", tree{"x/_SUCCESS": "", "x/part-00000-0123456789abcdef.csv": ""}, file, over, fault.Refused, "is a folder of part files, as"},
		{"a file in a folder of parts", tree{"d/_SUCCESS": "", "d/part-00000-0123456789abcdef.csv": ""}, []Target{{Path: "d/x"}}, over, fault.Refused, "is a folder of part files, and"},
		{"a file named as a folder", nil, []Target{{Path: "x.csv/"}}, Options{}, fault.Refused, "not a file"},
		{"a folder that is a file", tree{"x": ""}, folder, over, fault.Refused, "a file has this name"},
		{"a folder that is a device", nil, []Target{{Path: os.DevNull, Folder: true}}, over, fault.Refused, "is a device"},
		{"the root", nil, []Target{{Path: "/", Folder: true}}, over, fault.Refused, "root"},
		{"the current folder", nil, []Target{{Path: ".", Folder: true}}, over, fault.Refused, "is the current folder"},
		{"above the current folder", nil, []Target{{Path: filepath.Dir(filepath.Dir(work)), Folder: true}}, Options{}, fault.Refused, "or contains it"},
		{"a missing parent", nil, []Target{{Path: "no/such/x.csv"}}, Options{}, fault.Refused, "its folder does not exist"},
		{"a parent that is a file", tree{"f": ""}, []Target{{Path: "f/x.csv"}}, Options{}, fault.Refused, "is a file"},
		{"below a link to itself", tree{"d": "-> d"}, []Target{{Path: "d/x.csv", MakeParents: true}}, Options{}, fault.Refused, "form a loop"},
		{"an input", tree{"x": ""}, file, inputs("x"), fault.Refused, "is an input"},
		{"an input through a link", tree{"x": "", "link": "-> x"}, file, inputs("link"), fault.Refused, "is an input"},
		{"a folder that holds an input", tree{"x/a/in": ""}, folder, inputs("x/a/in"), fault.Refused, "contains the input"},
		{"an input below a link to the folder", tree{"x/a/in": "", "link": "-> x/a"}, folder, inputs("link/in"), fault.Refused, "contains the input"},
		{"a hard link of an input", tree{"in": "", "x": "= in"}, file, inputs("in"), fault.Refused, "is an input"},
		{"a file in an input folder", tree{"in/0/a.png": ""}, []Target{{Path: "in/0/a.png"}}, inputs("in"), fault.Refused, "is inside the input"},
		{"a new file in an input folder", tree{"in/0/a.png": ""}, []Target{{Path: "in/0/b.png"}}, inputs("in"), fault.Refused, "is inside the input"},
		{"a folder in an input folder", tree{"in/0/a.png": ""}, []Target{{Path: "in/0/x", Folder: true}}, inputs("in"), fault.Refused, "is inside the input"},
		{"a class folder of an input", tree{"in/0/a.png": ""}, []Target{{Path: "in/0", Folder: true}}, inputs("in"), fault.Refused, "is inside the input"},
		{"a link into an input folder", tree{"in/0/a.png": "", "x": "-> in/0/a.png"}, file, inputs("in"), fault.Refused, "is inside the input"},
		{"a link to an input folder", tree{"in/0/a.png": "", "link": "-> in"}, []Target{{Path: "link/0/a.png"}}, inputs("in"), fault.Refused, "is inside the input"},
		{"an input that is a link", tree{"in/0/a.png": "", "link": "-> in"}, []Target{{Path: "in/0/a.png"}}, inputs("link"), fault.Refused, "is inside the input"},
		{"a foreign folder", tree{"x/f": ""}, folder, over, fault.Refused, "no record that idxport made it"},
		{"one name twice", nil, []Target{{Path: "x.csv"}, {Path: "x.csv"}}, Options{}, fault.Refused, "same output"},
		{"two spellings", tree{"d/": ""}, []Target{{Path: "x.csv"}, {Path: "d/../x.csv"}}, Options{}, fault.Refused, "same output"},
		{"two names of one file", tree{"link.csv": "-> x.csv"}, []Target{{Path: "x.csv"}, {Path: "link.csv"}}, Options{}, fault.Refused, "same output"},
		{"a file in a folder", nil, []Target{{Path: "d", Folder: true}, {Path: "d/x.csv", MakeParents: true}}, Options{}, fault.Refused, "lies inside"},
		{"a folder around a file", nil, []Target{{Path: "d/x.csv", MakeParents: true}, {Path: "d", Folder: true}}, Options{}, fault.Refused, "lies inside"},
		{"all exist", tree{"x": "", "y": ""}, []Target{{Path: "x"}, {Path: "y"}}, Options{}, fault.Exists, "already exists"},
		{"no name", nil, []Target{{Path: ""}}, Options{}, fs.ErrNotExist, ""},
		{"links in a circle", tree{"x": "-> b", "b": "-> x"}, file, Options{}, fault.Refused, "form a loop"},
		{"256 bytes", nil, []Target{{Path: strings.Repeat("x", maxName+1)}}, Options{}, syscall.ENAMETOOLONG, "file name too long"},
		{"a lock that is a link", tree{".x.idxport": "-> f"}, file, Options{}, fault.Refused, "is a link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, c.has)
			before := readTree(t, dir)
			targets := append([]Target(nil), c.targets...)
			for i := range targets {
				if p := targets[i].Path; p != "" && p != "." && !filepath.IsAbs(p) {
					targets[i].Path = dir + "/" + p
				}
			}
			o := c.o
			o.Inputs = nil
			for _, input := range c.o.Inputs {
				o.Inputs = append(o.Inputs, filepath.Join(dir, input))
			}
			_, err := Prepare(targets, o)
			refuses(t, err, c.want, c.says)
			if after := readTree(t, dir); !maps.Equal(before, after) {
				t.Errorf("left %v, expected %v", after, before)
			}
		})
	}
}

// TestOneFile publishes the file x with the content "new" into a folder with other files.
func TestOneFile(t *testing.T) {
	t.Parallel()
	over := Options{Overwrite: true}
	chain := tree{}
	for i := range 45 {
		chain[fmt.Sprint(i+1)] = "-> " + fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		has     tree
		path    string
		o       Options
		want    error
		says    string
		changed tree // the entries of has that the run changes
	}{
		"nothing":                   {nil, "x", Options{}, nil, "", tree{"x": "new"}},
		"it exists":                 {tree{"x": "old"}, "x", Options{}, fault.Exists, "already exists", nil},
		"overwrite":                 {tree{"x": "old"}, "x", over, nil, "", tree{"x": "new"}},
		"missing inputs":            {nil, "x", Options{Inputs: []string{"gone/in", "-"}}, nil, "", tree{"x": "new"}},
		"a link to a file":          {tree{"real/y": "old", "x": "-> real/y"}, "x", over, nil, "", tree{"real/y": "new"}},
		"a link to a missing file":  {tree{"real/": "", "x": "-> real/y"}, "x", over, nil, "", tree{"real/y": "new"}},
		"20 links":                  {chain, "20", Options{}, nil, "", tree{"0": "new"}},
		"45 links, more than Linux": {chain, "45", Options{}, fault.Refused, "links", nil},
		"the lock of a killed run":  {tree{".x.idxport": "", "y": ""}, "x", Options{}, nil, "", tree{"x": "new", ".x.idxport": "gone"}},
		"partials, two of this target": {tree{
			".x.idxport-0123456789abcdef.partial": "", ".x.idxport-fedcba9876543210.partial/1/1.png": "",
			".y.idxport-0123456789abcdef.partial":                  "", // another target's
			".x.idxport-0123456789abcde.partial":                   "", // one digit too few
			".x.idxport-0123456789abcdef-0123456789abcdef.partial": "",
			".x.idxport-0123456789abcdeg.partial":                  "",
			".x.idxport-0123456789ABCDEF.partial":                  "",
			"x.idxport-0123456789abcdef.partial":                   "",
		}, "x", Options{}, nil, "", tree{
			"x": "new", ".x.idxport-0123456789abcdef.partial": "gone", ".x.idxport-fedcba9876543210.partial/": "gone",
			".x.idxport-fedcba9876543210.partial/1/": "gone", ".x.idxport-fedcba9876543210.partial/1/1.png": "gone",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, c.has)
			want := readTree(t, dir)
			maps.Copy(want, c.changed)
			maps.DeleteFunc(want, func(_, content string) bool { return content == "gone" })
			refuses(t, commitFile(filepath.Join(dir, c.path), "new", c.o), c.want, c.says)
			if got := readTree(t, dir); !maps.Equal(got, want) {
				t.Errorf("found %v, expected %v", got, want)
			}
		})
	}
}

// TestSomeTargetsExist has one of two outputs exist. It is accepted if it is equal; otherwise
// nothing is published.
func TestSomeTargetsExist(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ has, gone, version string }{
		{"train.parquet", "train", "new"}, {"train.parquet", "train", "old"}, {"train.parquet", "train", "newer"},
		{"train", "train.parquet", "new"}, {"train", "train.parquet", "old"},
	} {
		t.Run(c.has+" "+c.version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, dir, usual(dir, c.version))
			if err := os.RemoveAll(filepath.Join(dir, c.gone)); err != nil {
				t.Fatal(err)
			}
			before := readTree(t, dir)
			err := run(quick(), Options{}, usual(dir, "new")...)
			if c.version == "new" {
				if _, statErr := os.Stat(filepath.Join(dir, c.gone)); err != nil || statErr != nil {
					t.Errorf("found %v and %v, expected both outputs", err, statErr)
				}
				return
			}
			refuses(t, err, fault.Exists, "its contents differ from the new output")
			if got := readTree(t, dir); !maps.Equal(got, before) {
				t.Errorf("found %v, expected %v", got, before)
			}
		})
	}
}

// TestDiscardLeavesNothing checks that nothing is left on disk, and that nothing more can be
// written.
func TestDiscardLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Prepare([]Target{
		{Path: dir + "/a/b/x.csv", MakeParents: true},
		{Path: dir + "/a/png", Folder: true, MakeParents: true},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(s.Folder(1), "7/1.png", "x"); err != nil {
		t.Fatal(err)
	}
	for name := range readTree(t, dir+"/a") {
		if base := filepath.Base(name); name != "b/" && !strings.Contains(name, ".partial/") && !strings.HasPrefix(base, ".") {
			t.Errorf("%s is visible before Commit", name)
		}
	}
	s.Discard()
	s.Discard()
	if got := readTree(t, dir); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	_, err = s.File(0).Write([]byte("x"))
	for what, err := range map[string]error{
		"Write": err, "WriteFile": put(s.Folder(1), "7/2.png", ""), "Subfolder": put(s.Folder(1), "8/1.png", ""),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Discard: %v", what, err)
		}
	}
	if err := put(s.Folder(1), "7/x.csv", "xx"); err == nil {
		t.Error("Create after Discard succeeded")
	}
	for what, err := range map[string]error{"Complete": s.Complete(), "Commit": s.Commit()} {
		if !errors.Is(err, errEnded) {
			t.Errorf("%s after Discard: %v", what, err)
		}
	}
}

// TestFileIsShorterThanWritten pins that a file which is shorter than what was written is not
// published.
func TestFileIsShorterThanWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Prepare([]Target{{Path: dir + "/x.csv"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	if _, err := s.File(0).Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.Partial(0), 3); err != nil {
		t.Fatal(err)
	}
	refuses(t, s.Commit(), fault.IO, "incomplete: 5 bytes written, 3 in the file")
	if _, err := os.Stat(dir + "/x.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was published: %v", err)
	}
}

// TestReplacedWhileLooked replaces a target all the time, as mv does: it is never taken for a file
// without a name, which /dev/stdout may lead to.
func TestReplacedWhileLooked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	plant(t, dir, tree{"x.csv": "old"})
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for {
			select {
			case <-stop:
				stopped <- err
				return
			default:
				err = errors.Join(err, os.WriteFile(path+".new", nil, 0o666), rename(path+".new", path))
			}
		}
	}()
	for range 3000 {
		if out, err := locate(Target{Path: path}); err != nil || out.info == nil {
			t.Errorf("found %v, %v", out, err)
			break
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestHintNamesAFolder checks that the hint names the nearest folder that exists, quoted for a
// shell.
func TestHintNamesAFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b")
	plant(t, dir, tree{"d/": ""})
	for path, folder := range map[string]string{
		dir + "/x.csv": dir, dir + "/none/x.csv": dir, dir + "/d/nor/this/x.csv": dir + "/d", "none/nor/this/x.csv": ".",
	} {
		e := Failure(path, "writing", fs.ErrPermission)
		if want := "check the permissions of " + shell.Path(filepath.FromSlash(folder)); fault.HintOf(e) != want {
			t.Errorf("%s: found the hint %q, expected %q", path, fault.HintOf(e), want)
		}
	}
}

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "not", "yet")} {
		if free, err := FreeSpace(path); err != nil || free == 0 {
			t.Errorf("%s: found %d, %v", path, free, err)
		}
	}
}
