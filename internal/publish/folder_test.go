package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// commitFolder publishes a folder of files.
func commitFolder(path string, kind Kind, files tree, o Options) error {
	return run(quick(), o, outputOf{Target{Path: path, Folder: true, Kind: kind}, files})
}

var someFiles = tree{"0/00001.png": "one", "0/00003.png": "three", "1/00002.png": "", "readme.txt": "hello"}

// TestManyFiles writes files with four goroutines, in more subfolders than a process may have open
// files. The listing is that of what is on disk.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	files, size := tree{}, 0
	for i := range 2200 {
		name, data := fmt.Sprintf("%d/%05d.png", i%1100, i), strings.Repeat(string(rune(i)), i%100)
		files[name] = data
		size += len(data)
	}
	s := must.Get(prepare(quick(), []Target{{Path: dir, Folder: true}}, Options{}))(t)
	defer s.Discard()
	names := slices.Collect(maps.Keys(files))
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := worker; i < len(names); i += 4 {
				if err := put(s.Folder(0), names[i], files[names[i]]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must.Do(t, s.Commit())
	if n, bytes := s.Folder(0).Totals(); n != int64(len(files)) || bytes != int64(size) {
		t.Errorf("found %d files, %d bytes, expected %d, %d", n, bytes, len(files), size)
	}
	listed, err := list(dir)
	if err != nil || listed != s.Folder(0).listing {
		t.Errorf("found %v, %v, expected the listing %v", listed, err, s.Folder(0).listing)
	}
	on := readTree(t, dir)
	maps.DeleteFunc(on, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
	if !maps.Equal(on, files) {
		t.Errorf("found %d files, expected %d, or others", len(on), len(files))
	}
}

// TestForeignFilesAreKept overwrites folders that hold a foreign file, or lack one of their own,
// before the run or since it began: it fails, and nothing changes. So it does for folders without a
// record, as earlier versions left them.
func TestForeignFilesAreKept(t *testing.T) {
	t.Parallel()
	type change func(t *testing.T, dir string)
	with := func(has tree) change { return func(t *testing.T, dir string) { plant(t, dir, has) } }
	without := func(name string) change {
		return func(_ *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, name)) }
	}
	rename := func(from, to string) change {
		return func(_ *testing.T, dir string) { os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)) }
	}
	noRecord := func(t *testing.T, dir string) {
		for name := range readTree(t, filepath.Dir(dir)) {
			if strings.HasSuffix(name, recordSuffix) {
				os.Remove(filepath.Join(filepath.Dir(dir), name))
			}
		}
	}
	made := map[Kind]tree{
		Plain: someFiles, Parts: {"part-00000.parquet": "one"}, Hub: {"data/train-00000.parquet": "one"},
	}
	for _, c := range []struct {
		name     string
		kind     Kind
		change   change
		replaced bool
	}{
		{"untouched", Plain, with(nil), true},
		{"a file beside the classes", Plain, with(tree{"notes.txt": ""}), false},
		{"a file in a class", Plain, with(tree{"0/thesis.doc": ""}), false},
		{"a renamed file", Plain, rename("0/00001.png", "0/mine.png"), false},
		{"moved between classes", Plain, rename("0/00001.png", "1/00001.png"), false},
		{"another size", Plain, with(tree{"0/00001.png": "ones"}), false},
		{"a folder", Plain, with(tree{"mine/": ""}), false},
		{"a link", Plain, with(tree{"0/link": "-> 00001.png"}), false},
		{"a link in place of a file", Plain, func(t *testing.T, dir string) {
			without("0/00001.png")(t, dir)
			plant(t, dir, tree{"0/00001.png": "-> one"}) // of the same length
		}, false},
		{"a class gone", Plain, without("1"), false},
		{"no record", Plain, noRecord, false},
		{"parts", Parts, with(nil), true},
		{"parts without mark", Parts, without("_SUCCESS"), false},
		{"parts and a hidden file", Parts, with(tree{".part-00000.parquet.crc": ""}), false},
		{"card", Hub, with(nil), true},
		{"edited card", Hub, with(tree{"README.md": "# card\nmine\n"}), false},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " late ", late), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir() + "/train"
				must.Do(t, commitFolder(dir, c.kind, made[c.kind], Options{}))
				if !late {
					c.change(t, dir)
				}
				s, err := prepare(quick(), []Target{{Path: dir, Folder: true, Kind: c.kind}}, Options{Overwrite: true})
				if late && err == nil {
					c.change(t, dir)
				}
				before := readTree(t, dir)
				if err == nil {
					defer s.Discard()
					err = errors.Join(put(s.Folder(0), "part-00000.csv", "new"), s.Commit())
				}
				if !c.replaced {
					refuses(t, err, fault.Refused, "idxport")
					holds(t, dir, before)
				} else if err != nil || maps.Equal(before, readTree(t, dir)) {
					t.Errorf("found %v, expected it to be replaced", err)
				}
			})
		}
	}
}

// TestRefusedNames refuses names that are not plain file names on every system. A
// folder in which a write failed cannot be committed, even if the caller ignores the error.
func TestRefusedNames(t *testing.T) {
	t.Parallel()
	s := must.Get(Prepare([]Target{{Path: t.TempDir() + "/train", Folder: true}}, Options{}))(t)
	defer s.Discard()
	c := must.Get(s.Folder(0).Subfolder(""))(t)
	for _, name := range []string{"", ".", "..", "a/b", "/a", `a\b`, "a\x00b", "a/", "\xff"} {
		_, subfolderErr := s.Folder(0).Subfolder(name)
		_, streamErr := c.Create(name)
		for what, err := range map[string]error{"folder": subfolderErr, "stream": streamErr,
			"file": c.WriteFile(name, nil)} {
			if !errors.Is(err, fs.ErrInvalid) && (name != "" || what != "folder") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if err := s.Commit(); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Commit: %v", err)
	}
}

// TestStreamMustBeClosed commits only after every stream was closed, and writes no name twice.
func TestStreamMustBeClosed(t *testing.T) {
	t.Parallel()
	s := must.Get(prepare(quick(), []Target{{Path: t.TempDir() + "/out", Folder: true, Kind: Parts}}, Options{}))(t)
	defer s.Discard()
	c := must.Get(s.Folder(0).Subfolder(""))(t)
	f := must.Get(c.Create("part-00000.parquet"))(t)
	if err := s.Commit(); err == nil || !strings.Contains(err.Error(), "a file in it is not complete") {
		t.Errorf("found %v, expected an error about the open file", err)
	}
	must.Do(t, f.Close())
	_, second := c.Create("part-00000.parquet")
	third := c.WriteFile("part-00000.parquet", nil)
	for what, err := range map[string]error{"Create": second, "WriteFile": third, "Commit": s.Commit()} {
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: found %v, expected %v", what, err, fs.ErrExist)
		}
	}
}

// TestNamesOfStreams has the hash of nothing, 2d06800538d394c2, from the definition of XXH3.
func TestNamesOfStreams(t *testing.T) {
	t.Parallel()
	shards := tree{}
	for _, name := range []string{"train-00000", "train-00001", "train-b-00000", "test-1.5-00000"} {
		shards["data/"+name+".parquet"] = "x"
	}
	for kind, c := range map[Kind]struct {
		files tree
		want  []string
	}{
		Parts: {tree{"part-00000.csv.gz": "", "part-00001.csv.gz": ""},
			[]string{"_SUCCESS", "part-00000-2d06800538d394c2.csv.gz", "part-00001-2d06800538d394c2.csv.gz"}},
		Hub: {shards, []string{"README.md", "data/", "data/test-1.5-00000-of-00001.parquet",
			"data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet",
			"data/train-b-00000-of-00001.parquet"}},
	} {
		dir := t.TempDir() + "/out"
		must.Do(t, commitFolder(dir, kind, c.files, Options{}))
		found := readTree(t, dir)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.want) {
			t.Errorf("found %v, expected %v", got, c.want)
		}
		if kind == Parts && found["_SUCCESS"] != "" || kind == Hub && found["README.md"] != "# card\n" {
			t.Errorf("found %q and %q", found["_SUCCESS"], found["README.md"])
		}
	}
}
