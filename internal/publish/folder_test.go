package publish

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/fault"
)

// commitFolder publishes a folder of files.
func commitFolder(path string, kind Kind, files tree, o Options) error {
	return run(quick(), o, outputOf{Target{Path: path, Folder: true, Kind: kind}, files})
}

var someFiles = tree{"0/00001.png": "one", "0/00003.png": "three", "1/00002.png": "", "readme.txt": "hello"}

// TestChecksum writes files with four goroutines, in more subfolders than a process may have open
// files. The checksum is computed by its definition, from the lines of sha256sum, and the listing
// from what is on disk.
func TestChecksum(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	files, total, size := tree{}, new(big.Int), 0
	for i := range 2200 {
		name, data := fmt.Sprintf("%d/%05d.png", i%1100, i), strings.Repeat(string(rune(i)), i%100)
		term := sha256.Sum256(fmt.Appendf(nil, "%x  %s\n", sha256.Sum256([]byte(data)), name))
		total.Add(total, new(big.Int).SetBytes(term[:]))
		files[name] = data
		size += len(data)
	}
	s, err := prepare(quick(), []Target{{Path: dir, Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%064x", total.Mod(total, new(big.Int).Lsh(big.NewInt(1), 256)))
	found := s.Folder(0).Checksum()
	if n, bytes := s.Folder(0).Totals(); found != want || n != int64(len(files)) || bytes != int64(size) {
		t.Errorf("found %s, %d files, %d bytes, expected %s, %d, %d", found, n, bytes, want, len(files), size)
	}
	var listed listing
	err = list(dir, func(_ string, term listing) { listed += term })
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
	with := func(has tree) func(*testing.T, string) { return func(t *testing.T, dir string) { plant(t, dir, has) } }
	without := func(names ...string) func(*testing.T, string) {
		return func(_ *testing.T, dir string) {
			for _, name := range names {
				os.RemoveAll(filepath.Join(dir, name))
			}
		}
	}
	rename := func(from, to string) func(*testing.T, string) {
		return func(_ *testing.T, dir string) { os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)) }
	}
	noRecord := func(t *testing.T, dir string) {
		for name := range readTree(t, filepath.Dir(dir)) {
			if strings.HasSuffix(name, recordSuffix) {
				os.Remove(filepath.Join(filepath.Dir(dir), name))
			}
		}
	}
	earlier := func(has tree) func(*testing.T, string) {
		return func(t *testing.T, dir string) { noRecord(t, dir); plant(t, dir, has) }
	}
	made := map[Kind]tree{
		Plain: someFiles, Parts: {"part-00000.parquet": "one"}, Hub: {"data/train-00000.parquet": "one"},
	}
	const changed, none = "files were added to it, removed or changed", "there is no record that idxport made it"
	for _, c := range []struct {
		name   string
		kind   Kind
		change func(t *testing.T, dir string)
		says   string // "" if it may be replaced
	}{
		{"untouched", Plain, with(nil), ""},
		{"a file beside the classes", Plain, with(tree{"notes.txt": ""}), "it holds notes.txt"},
		{"a file in a class", Plain, with(tree{"0/thesis.doc": ""}), "it holds 0/thesis.doc"},
		{"a renamed file", Plain, rename("0/00001.png", "0/mine.png"), changed},
		{"moved between classes", Plain, rename("0/00001.png", "1/00001.png"), changed},
		{"another size", Plain, with(tree{"0/00001.png": "ones"}), changed},
		{"a folder", Plain, with(tree{"mine/": ""}), "it holds mine"},
		{"a folder in a class", Plain, with(tree{"1/deep/f": ""}), changed},
		{"a link", Plain, with(tree{"0/link": "-> 00001.png"}), "it holds 0/link"},
		{"a class gone", Plain, without("1"), changed},
		{"a file gone", Plain, without("0/00001.png"), changed},
		{"no record", Plain, noRecord, none},
		{"made by an earlier version", Plain, earlier(tree{"_manifest.json": `{"version":2}`}), none},
		{"parts", Parts, with(nil), ""},
		{"parts without mark", Parts, without("_SUCCESS"), changed},
		{"parts and a file", Parts, with(tree{"mine.parquet": ""}), "it holds mine.parquet"},
		{"parts and a hidden file", Parts, with(tree{".part-00000.parquet.crc": ""}), "crc"},
		{"parts made by an earlier version", Parts, noRecord, none},
		{"card", Hub, with(nil), ""},
		{"edited card", Hub, with(tree{"README.md": "# card\nmine\n"}), changed},
		{"no card", Hub, without("README.md"), changed},
		{"card and data", Hub, with(tree{"data/mine.parquet": ""}), "it holds data/mine.parquet"},
		{"card made by an earlier version", Hub, noRecord, none},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " late ", late), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir() + "/train"
				if err := commitFolder(dir, c.kind, made[c.kind], Options{}); err != nil {
					t.Fatal(err)
				}
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
				after := readTree(t, dir)
				if c.says == "" {
					if err != nil || maps.Equal(before, after) {
						t.Errorf("found %v, expected it to be replaced", err)
					}
					return
				}
				says := c.says
				if late && says == none { // then there is that of this run
					says = changed
				}
				refuses(t, err, fault.Refused, says)
				if !maps.Equal(before, after) {
					t.Errorf("it changed: %v", after)
				}
			})
		}
	}
}

// TestRefusedNames refuses names that are not plain file names on every system. A
// folder in which a write failed cannot be committed, even if the caller ignores the error.
func TestRefusedNames(t *testing.T) {
	t.Parallel()
	s, err := Prepare([]Target{{Path: t.TempDir() + "/train", Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	c, err := s.Folder(0).Subfolder("")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "/a", `a\b`, "a\x00b", "a/", "\xff"} {
		_, subfolderErr := s.Folder(0).Subfolder(name)
		_, streamErr := c.Create(name)
		for what, err := range map[string]error{"folder": subfolderErr, "stream": streamErr, "file": c.WriteFile(name, nil)} {
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
	s, err := prepare(quick(), []Target{{Path: t.TempDir() + "/out", Folder: true, Kind: Parts}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	c, err := s.Folder(0).Subfolder("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Create("part-00000.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); !errors.Is(err, errOpenStream) {
		t.Errorf("found %v, expected %v", err, errOpenStream)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
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
		if err := commitFolder(dir, kind, c.files, Options{}); err != nil {
			t.Fatal(err)
		}
		found := readTree(t, dir)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.want) {
			t.Errorf("found %v, expected %v", got, c.want)
		}
		if kind == Parts && found["_SUCCESS"] != "" || kind == Hub && found["README.md"] != "# card\n" {
			t.Errorf("found %q and %q", found["_SUCCESS"], found["README.md"])
		}
	}
}
