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
	if n, bytes := s.Folder(0).Files, s.Folder(0).Bytes; n != int64(len(files)) || bytes != int64(size) {
		t.Errorf("found %d files, %d bytes, expected %d, %d", n, bytes, len(files), size)
	}
	if listed, err := list(dir); err != nil || listed != s.Folder(0).listing {
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
	made := map[Kind]tree{
		Plain: someFiles, Parts: {"part-00000.parquet": "one"}, Hub: {"data/train-00000.parquet": "one"},
	}
	for _, c := range []struct {
		name     string
		kind     Kind
		gone     string // a pattern of what is removed
		has      tree   // what is made then
		replaced bool
	}{
		{"untouched", Plain, "", nil, true},
		{"a file beside the classes", Plain, "", tree{"notes.txt": ""}, false},
		{"a file in a class", Plain, "", tree{"0/thesis.doc": ""}, false},
		{"a renamed file", Plain, "0/00001.png", tree{"0/mine.png": "one"}, false},
		{"moved between classes", Plain, "0/00001.png", tree{"1/00001.png": "one"}, false},
		{"another size", Plain, "", tree{"0/00001.png": "ones"}, false},
		{"a folder", Plain, "", tree{"mine/": ""}, false},
		{"a link", Plain, "", tree{"0/link": "-> 00001.png"}, false},
		{"a link of the same length", Plain, "0/00001.png", tree{"0/00001.png": "-> one"}, false},
		{"a class gone", Plain, "1", nil, false},
		{"a link in place of a class", Plain, "1", tree{"1": "-> 0"}, false},
		{"no record", Plain, "../.train.idxport-*" + recordSuffix, nil, false},
		{"parts", Parts, "", nil, true},
		{"parts without mark", Parts, "_SUCCESS", nil, false},
		{"parts and a hidden file", Parts, "", tree{".part-00000.parquet.crc": ""}, false},
		{"card", Hub, "", nil, true},
		{"edited card", Hub, "", tree{"README.md": "# card\nmine\n"}, false},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " late ", late), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir() + "/train"
				must.Do(t, commitFolder(dir, c.kind, made[c.kind], Options{}))
				change := func() {
					gone, err := filepath.Glob(dir + "/" + c.gone)
					if must.Do(t, err); c.gone != "" && len(gone) != 1 {
						t.Fatalf("found %v, expected one", gone)
					} else if c.gone != "" {
						must.Do(t, os.RemoveAll(gone[0]))
					}
					plant(t, dir, c.has)
				}
				if !late {
					change()
				}
				s, err := prepare(quick(), []Target{{Path: dir, Folder: true, Kind: c.kind}}, Options{Overwrite: true})
				if err == nil {
					defer s.Discard()
				}
				if late && err == nil {
					change()
				}
				before := readTree(t, dir)
				if err == nil {
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
	d := s.Folder(0)
	for _, path := range []string{"", ".", "..", "/a", `a\b`, "a\x00b", "a/", "\xff", "a/b/c", "../a", "./a", "a//b"} {
		_, stream := d.Create(path)
		for what, err := range map[string]error{"stream": stream, "file": d.WriteFile(path, nil)} {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s %q: %v", what, path, err)
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
	c := s.Folder(0)
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

// TestNamesOfStreams has the hashes of nothing and of "a", by the definition of XXH3.
func TestNamesOfStreams(t *testing.T) {
	t.Parallel()
	shards := tree{}
	for _, name := range []string{"train-00000", "train-00001", "train-b-00000", "test-1.5-00000"} {
		shards["data/"+name+".parquet"] = "x"
	}
	for kind, c := range map[Kind]struct{ files, want tree }{
		Parts: {tree{"part-00000.csv.gz": "", "part-00001.csv.gz": "a"}, tree{
			"_SUCCESS": "", "part-00000-2d06800538d394c2.csv.gz": "", "part-00001-e6c632b61e964e1f.csv.gz": "a"}},
		Hub: {shards, tree{"README.md": "# card\n", "data/": "", "data/test-1.5-00000-of-00001.parquet": "x",
			"data/train-00000-of-00002.parquet": "x", "data/train-00001-of-00002.parquet": "x",
			"data/train-b-00000-of-00001.parquet": "x"}},
	} {
		dir := t.TempDir() + "/out"
		must.Do(t, commitFolder(dir, kind, c.files, Options{}))
		holds(t, dir, c.want)
	}
}
