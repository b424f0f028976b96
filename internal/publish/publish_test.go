package publish

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// TestPrepareRefuses has targets that must not be made, even with Overwrite: nothing changes.
func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	work := must.Get(os.Getwd())(t)
	const image = "in/0/a.png"
	const looped, current, overlaps = "links", "current folder", "it is, contains or is inside the "
	tooLong := "file name too long"
	if runtime.GOOS == "windows" { // where names are looked at first, and counted in units of two bytes
		tooLong = "Windows cannot store the name"
	}
	file, folder := []Target{{Path: "x"}}, []Target{{Path: "x", Folder: true}}
	at := func(paths ...string) (targets []Target) {
		for _, path := range paths {
			targets = append(targets, Target{Path: path, Folder: path == "d"})
		}
		return targets
	}
	for name, c := range map[string]struct {
		has     tree
		targets []Target // below the test's folder unless absolute
		input   string
		says    string
	}{
		"a folder":                 {tree{"x/f": ""}, file, "", "is a folder"},
		"in a folder of parts":     {tree{"p/part-00000-0123456789abcdef.csv": ""}, at("p/x"), "", "has part files"},
		"a folder that is a file":  {tree{"x": ""}, folder, "", "expected a folder"},
		"a folder, a device":       {nil, []Target{{Path: os.DevNull, Folder: true}}, "", "is a device"},
		"the root":                 {nil, []Target{{Path: filepath.VolumeName(work) + "/", Folder: true}}, "", current},
		"the current folder":       {nil, []Target{{Path: ".", Folder: true}}, "", current},
		"above the current folder": {nil, []Target{{Path: filepath.Dir(work), Folder: true}}, "", current},
		"a parent that is a file":  {tree{"f": ""}, at("f/x.csv"), "", syscall.ENOTDIR.Error()},
		"below a link to itself":   {tree{"l": "-> l"}, at("l/x.csv"), "", looped},
		"links in a circle":        {tree{"x": "-> b", "b": "-> x"}, file, "", looped},
		"a link without an end":    {tree{"x": "-> gone/../x"}, file, "", looped},
		"a lock that is a link":    {tree{".x.idxport": "-> f"}, file, "", looped},
		"256 bytes":                {nil, at(strings.Repeat("x", maxName+1)), "", tooLong},
		"a foreign folder":         {tree{"x/f": ""}, folder, "", "idxport has no record of it"},
		"a link to one":            {tree{"v/f": "", "x": "-> v"}, folder, "", "idxport has no record of it"},

		"an input":                  {tree{"x": ""}, file, "x", overlaps},
		"an input through a link":   {tree{"x": "", "link": "-> x"}, file, "link", overlaps},
		"a hard link of an input":   {tree{"in": "", "x": "= in"}, file, "in", overlaps},
		"holds an input":            {tree{"x/a/in": ""}, folder, "x/a/in", overlaps},
		"a folder, an input":        {tree{"x/f": ""}, file, "x", overlaps},
		"a file, an input":          {tree{"x": ""}, folder, "x", overlaps},
		"holds one below a link":    {tree{"x/a/in": "", "link": "-> x/a"}, folder, "link/in", overlaps},
		"in an input folder":        {tree{image: ""}, at(image), "in", overlaps},
		"new in an input folder":    {tree{image: ""}, at("in/0/b.png"), "in", overlaps},
		"a folder in an input":      {tree{image: ""}, []Target{{Path: "in/0/x", Folder: true}}, "in", overlaps},
		"a class folder":            {tree{image: ""}, []Target{{Path: "in/0", Folder: true}}, "in", overlaps},
		"a link into an input":      {tree{image: "", "x": "-> " + image}, file, "in", overlaps},
		"below a link to an input":  {tree{image: "", "link": "-> in"}, at("link/0/a.png"), "in", overlaps},
		"in an input, named a link": {tree{image: "", "link": "-> in"}, at(image), "link", overlaps},

		"one name twice":        {nil, at("x.csv", "x.csv"), "", overlaps},
		"two spellings":         {tree{"e/": ""}, at("x.csv", "e/../x.csv"), "", overlaps},
		"two names of one file": {tree{"link": "-> x.csv"}, at("x.csv", "link"), "", overlaps},
		"a file in a folder":    {nil, at("d", "d/x.csv"), "", overlaps},
		"a folder around it":    {nil, at("d/x.csv", "d"), "", overlaps},
		"a file below a file":   {nil, at("x.csv", "x.csv/y.csv"), "", overlaps},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, c.has)
			before := readTree(t, dir)
			targets := slices.Clone(c.targets)
			for i := range targets {
				if p := targets[i].Path; p != "." && !filepath.IsAbs(p) {
					targets[i].Path = dir + "/" + p
				}
			}
			inputs := []string{filepath.Join(dir, cmp.Or(c.input, "none"))}
			_, err := Prepare(targets, Options{Overwrite: true, Inputs: inputs})
			refuses(t, err, fault.Refused, c.says)
			holds(t, dir, before)
		})
	}
}

// TestNamesOfOneFile refuses names that a file system that ignores case takes for one.
func TestNamesOfOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if runtime.GOOS == "linux" { // whose file systems distinguish them
		plant(t, dir, tree{".X.csv.idxport": "", ".x.csv.idxport": "= .X.csv.idxport"})
	}
	_, err := Prepare([]Target{{Path: dir + "/x.csv"}, {Path: dir + "/X.csv"}}, Options{})
	refuses(t, err, fault.Refused, "in case only")
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
		"all targets exist":         {tree{"x": "new"}, "x", Options{}, fault.Exists, "already exists", nil},
		"overwrite":                 {tree{"x": "old"}, "x", over, nil, "", tree{"x": "new"}},
		"missing inputs":            {nil, "x", Options{Inputs: []string{"gone/in", "-"}}, nil, "", tree{"x": "new"}},
		"a link to a file":          {tree{"r/y": "old", "x": "-> r/y"}, "x", over, nil, "", tree{"r/y": "new"}},
		"a dangling link":           {tree{"r/": "", "x": "-> r/y"}, "x", over, nil, "", tree{"r/y": "new"}},
		"a link to a new folder":    {tree{"x": "-> r/y"}, "x", Options{}, nil, "", tree{"r/": "", "r/y": "new"}},
		"20 links":                  {chain, "20", Options{}, nil, "", tree{"0": "new"}},
		"45 links, more than Linux": {chain, "45", Options{}, fault.Refused, "links", nil},
		"the lock of a killed run": {
			tree{".x.idxport": "", "y": ""}, "x", Options{}, nil, "", tree{"x": "new", ".x.idxport": "gone"}},
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
			holds(t, dir, want)
		})
	}
}

// TestSomeTargetsExist accepts an existing output of two if it is equal; else it publishes nothing.
func TestSomeTargetsExist(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ has, gone, version string }{
		{"train.parquet", "train", "new"}, {"train.parquet", "train", "old"}, {"train.parquet", "train", "newer"},
		{"train", "train.parquet", "new"}, {"train", "train.parquet", "old"},
	} {
		t.Run(c.has+" "+c.version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			published(t, dir, usual(dir, c.version))
			must.Do(t, os.RemoveAll(filepath.Join(dir, c.gone)))
			before := readTree(t, dir)
			err := run(quick(), Options{}, usual(dir, "new")...)
			if c.version == "new" {
				if _, statErr := os.Stat(filepath.Join(dir, c.gone)); err != nil || statErr != nil {
					t.Errorf("found %v and %v, expected both outputs", err, statErr)
				}
				return
			}
			refuses(t, err, fault.Exists, "already exists")
			holds(t, dir, before)
		})
	}
}

// TestDiscardLeavesNothing checks that nothing is left on disk, and nothing more can be written.
func TestDiscardLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := must.Get(Prepare([]Target{{Path: dir + "/a/b/x.csv"}, {Path: dir + "/a/png", Folder: true}}, Options{}))(t)
	must.Do(t, put(s.Folder(1), "7/1.png", "x"))
	for name := range readTree(t, dir+"/a") {
		hidden := strings.Contains(name, ".partial/") || strings.HasPrefix(filepath.Base(name), ".")
		if name != "b/" && !hidden {
			t.Errorf("%s is visible before Commit", name)
		}
	}
	s.Discard()
	s.Discard()
	holds(t, dir, tree{})
	if err := put(s.Folder(1), "7/x.csv", "xx"); err == nil {
		t.Error("Create after Discard succeeded")
	}
	_, err := s.File(0).Write([]byte("x"))
	for what, err := range map[string]error{
		"Write": err, "WriteFile": put(s.Folder(1), "7/2.png", ""), "Subfolder": put(s.Folder(1), "8/1.png", ""),
		"Complete": s.Complete(), "Commit": s.Commit(),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Discard: found %v, expected %v", what, err, fs.ErrClosed)
		}
	}
}

// TestFileIsShorterThanWritten pins that a file shorter than what was written is not published.
func TestFileIsShorterThanWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := must.Get(Prepare([]Target{{Path: dir + "/x.csv"}}, Options{}))(t)
	must.Get(s.File(0).Write([]byte("hello")))(t)
	must.Do(t, os.Truncate(s.Partial(0), 3))
	refuses(t, s.Commit(), fault.IO, "incomplete: 5 bytes written, 3 in the file")
	s.Discard()
	holds(t, dir, tree{})
}

// TestLockExcludes has many goroutines take a lock whose file each holder removes. The holder makes
// a folder that must not exist: if two hold the lock, one of them fails.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	const goroutines, turns = 16, 50
	dir := t.TempDir()
	takeTurn := func() error {
		lock, err := takeLock(filepath.Join(dir, ".x.idxport"))
		if err != nil {
			return err
		}
		inside := filepath.Join(dir, "inside")
		if err := errors.Join(os.Mkdir(inside, 0o777), os.Remove(inside)); err != nil {
			return fmt.Errorf("two hold the lock: %w", err)
		}
		_ = os.Remove(lock.Name()) // on Windows, Close does it
		return lock.Close()
	}
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for taken := 0; taken < turns; {
				err := takeTurn()
				switch {
				case err == nil:
					taken++
				case errors.Is(err, fault.Locked):
					time.Sleep(50 * time.Microsecond) // let the holder run
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	holds(t, dir, tree{})
}
