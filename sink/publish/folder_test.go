package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
)

// commitFolder publishes a folder of files.
func commitFolder(path string, mark Mark, files tree, o Options) error {
	return run(quick(), o, outputOf{Target{Path: path, Folder: true, Mark: mark}, files})
}

var someFiles = tree{"0/00001.png": "one", "0/00003.png": "three", "1/00002.png": "", "readme.txt": "hello"}

// TestManifestHashes compares the manifest with its definition in the package comment, computed
// with big integers.
func TestManifestHashes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	if err := commitFolder(dir, ManifestMark, someFiles, Options{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir + "/_manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format       string
		Version      int
		Files, Bytes int64
		Content      string
		Classes      map[string]struct {
			Files int
			Names string
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	content := new(big.Int)
	names := map[string]*big.Int{".": new(big.Int), "0": new(big.Int), "1": new(big.Int)}
	addDigest := func(to *big.Int, data []byte) {
		digest := sha256.Sum256(data)
		to.Add(to, new(big.Int).SetBytes(digest[:]))
	}
	digits := func(n *big.Int) string {
		return fmt.Sprintf("%064x", new(big.Int).Mod(n, new(big.Int).Lsh(big.NewInt(1), 256)))
	}
	for name, data := range someFiles {
		class, base, ok := strings.Cut(name, "/")
		if !ok {
			class, base = ".", name
		}
		digest := sha256.Sum256([]byte(data))
		addDigest(content, append([]byte(class+"/"+base+"\x00"), digest[:]...))
		addDigest(names[class], []byte(base))
	}
	if got.Format != "idxport-folder" || got.Version != 2 || got.Files != 4 || got.Bytes != 13 || got.Content != digits(content) {
		t.Errorf("got %s, want content %s", text, digits(content))
	}
	for class, want := range names {
		if got.Classes[class].Names != digits(want) {
			t.Errorf("folder %s: names %s, want %s", class, got.Classes[class].Names, digits(want))
		}
	}
	if got.Classes["0"].Files != 2 || len(got.Classes) != 3 {
		t.Errorf("got classes %v", got.Classes)
	}
}

// TestManifestOrder makes the same manifest of the same files, whichever goroutine is first.
func TestManifestOrder(t *testing.T) {
	t.Parallel()
	var texts [2][]byte
	for run := range texts {
		dir := t.TempDir() + "/train"
		s, err := prepare(quick(), []Target{{Path: dir, Folder: true}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := worker; i < 1000; i += 4 {
					if err := put(s.Folder(0), fmt.Sprintf("%d/%05d.png", i%10, i), strings.Repeat(string(rune(i)), i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if files, size := s.Folder(0).Totals(); files != 1000 || size < 499_500 {
			t.Errorf("found %d files of %d bytes", files, size)
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		if texts[run], err = os.ReadFile(dir + "/_manifest.json"); err != nil {
			t.Fatal(err)
		}
		if files := readTree(t, dir); len(files) != 1000+10+1 || files["7/00317.png"] != strings.Repeat("\u013d", 317) {
			t.Errorf("%d files and folders", len(files))
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("two runs: %s and %s", texts[0], texts[1])
	}
}

// TestForeignFilesAreKept overwrites folders that hold a foreign file, or lack one of their own,
// before the run or since it began: it fails, the error names the file, and nothing changes.
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
	made := map[Mark]tree{
		ManifestMark: someFiles, PartsMark: {"part-00000.parquet": "one"}, CardMark: {"data/train-00000.parquet": "one"},
	}
	for _, c := range []struct {
		name   string
		mark   Mark
		change func(t *testing.T, dir string)
		says   string // "" if it may be replaced
	}{
		{"untouched", ManifestMark, with(nil), ""},
		{"a file beside the classes", ManifestMark, with(tree{"notes.txt": ""}), "notes.txt"},
		{"a file in a class", ManifestMark, with(tree{"0/thesis.doc": ""}), "thesis.doc"},
		{"two files in a class", ManifestMark, with(tree{"0/a.doc": "", "0/00009.png": ""}), "the files in folder 0 are not those of its manifest: found 4"},
		{"a renamed file", ManifestMark, func(t *testing.T, dir string) {
			os.Rename(dir+"/0/00001.png", dir+"/0/mine.png")
		}, "folder 0"},
		{"swapped between classes", ManifestMark, func(t *testing.T, dir string) {
			os.Rename(dir+"/0/00001.png", dir+"/1/00001.png")
		}, "folder 0"},
		{"a folder", ManifestMark, with(tree{"mine/f": ""}), "mine"},
		{"a folder in a class", ManifestMark, with(tree{"1/deep/f": ""}), "deep"},
		{"a link", ManifestMark, with(tree{"link": "-> 0"}), "link"},
		{"a class gone", ManifestMark, without("1"), "1 of the 2 class folders"},
		{"a file gone", ManifestMark, without("0/00001.png"), "the files in folder 0 are not those of its manifest: found 1, expected 2"},
		{"another manifest", ManifestMark, with(tree{"_manifest.json": `{"format":"other"}`}), "_manifest.json was not written by idxport"},
		{"a later version", ManifestMark, with(tree{"_manifest.json": `{"format":"idxport-folder","version":3}`}), "version 3, expected 1"},
		{"no manifest", ManifestMark, without("_manifest.json"), "no _manifest.json"},
		{"a manifest that is a link", ManifestMark, func(t *testing.T, dir string) {
			os.Rename(dir+"/_manifest.json", dir+"/../mine.json")
			plant(t, dir, tree{"_manifest.json": "-> ../mine.json"})
		}, "_manifest.json"},
		{"parts", PartsMark, with(nil), ""},
		{"parts without mark", PartsMark, without("_SUCCESS"), "no _SUCCESS"},
		{"parts and a file", PartsMark, with(tree{"mine.parquet": ""}), "mine.parquet"},
		{"parts and a hidden file", PartsMark, with(tree{".part-00000.parquet.crc": ""}), ".crc"},
		{"parts and Spark's", PartsMark, with(tree{"part-00001-2a7f0000-0000-4000-8000-000000000000-c000.snappy.parquet": ""}), "snappy"},
		{"parts of another format", PartsMark, with(tree{"part-00001-0123456789abcdef.csv": ""}), "csv"},
		{"parts with a gap", PartsMark, with(tree{"part-00002-0123456789abcdef.parquet": ""}), "part-00002"},
		{"a mark that is not empty", PartsMark, with(tree{"_SUCCESS": "x"}), "_SUCCESS"},
		{"card", CardMark, with(nil), ""},
		{"edited card", CardMark, func(t *testing.T, dir string) {
			text, err := os.ReadFile(dir + "/README.md")
			if err != nil {
				t.Fatal(err)
			}
			plant(t, dir, tree{"README.md": "mine\n" + string(text)})
		}, "edited"},
		{"another card", CardMark, with(tree{"README.md": "mine\n"}), "README.md was not written by idxport"},
		{"no card", CardMark, without("README.md"), "no README.md"},
		{"card and a file", CardMark, with(tree{"mine.txt": ""}), "mine.txt"},
		{"card and data", CardMark, with(tree{"data/mine.parquet": ""}), "mine.parquet"},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " late ", late), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir() + "/train"
				if err := commitFolder(dir, c.mark, made[c.mark], Options{}); err != nil {
					t.Fatal(err)
				}
				if !late {
					c.change(t, dir)
				}
				s, err := prepare(quick(), []Target{{Path: dir, Folder: true, Mark: c.mark}}, Options{Overwrite: true})
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
				refuses(t, err, fault.Refused, c.says)
				if !maps.Equal(before, after) {
					t.Errorf("it changed: %v", after)
				}
			})
		}
	}
}

// TestRefusedNames refuses names that are not plain file names on every system, and the name of the
// mark. A folder in which a write failed cannot be committed, even if the caller ignores the error.
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
	for _, name := range []string{"", ".", "..", "a/b", "/a", `a\b`, "a\x00b", "a/", "\xff", "_manifest.json"} {
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
	s, err := prepare(quick(), []Target{{Path: t.TempDir() + "/out", Folder: true, Mark: PartsMark}}, Options{})
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
	for what, err := range map[string]error{"Create": second, "WriteFile": c.WriteFile("part-00000.parquet", nil), "Commit": s.Commit()} {
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: found %v, expected %v", what, err, fs.ErrExist)
		}
	}
}

// TestNamesOfStreams has the hash of nothing, 2d06800538d394c2, from the definition of XXH3.
func TestNamesOfStreams(t *testing.T) {
	t.Parallel()
	shards := tree{}
	for _, name := range []string{"train-00000.parquet", "train-00001.parquet", "train-b-00000.parquet", "test-1.5-00000.parquet"} {
		shards["data/"+name] = "x"
	}
	for mark, c := range map[Mark]struct {
		files tree
		want  []string
	}{
		PartsMark: {tree{"part-00000.csv.gz": "", "part-00001.csv.gz": ""},
			[]string{"_SUCCESS", "part-00000-2d06800538d394c2.csv.gz", "part-00001-2d06800538d394c2.csv.gz"}},
		CardMark: {shards, []string{"README.md", "data/", "data/test-1.5-00000-of-00001.parquet", "data/train-00000-of-00002.parquet",
			"data/train-00001-of-00002.parquet", "data/train-b-00000-of-00001.parquet"}},
	} {
		dir := t.TempDir() + "/out"
		if err := commitFolder(dir, mark, c.files, Options{}); err != nil {
			t.Fatal(err)
		}
		found := readTree(t, dir)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.want) {
			t.Errorf("found %v, expected %v", got, c.want)
		}
		if mark == PartsMark && found["_SUCCESS"] != "" || mark == CardMark && !strings.HasPrefix(found["README.md"], "# card\n<!-- {\"format\":\"idxport-folder\"") {
			t.Errorf("found the marks %q and %q", found["_SUCCESS"], found["README.md"])
		}
	}
}

// TestManyShards has the maximum number of streams, which would take minutes if each was compared
// with all.
func TestManyShards(t *testing.T) {
	t.Parallel()
	c := &Subfolder{name: "data"}
	all := make([]*Stream, 100_000)
	for i := range all {
		all[i] = &Stream{subfolder: c, name: fmt.Sprintf("train-%05d.parquet", i)}
	}
	done := make(chan []string, 1)
	go func() { done <- CardMark.names(all) }()
	select {
	case names := <-done:
		if last := names[len(names)-1]; last != "train-99999-of-100000.parquet" {
			t.Errorf("found %s, expected train-99999-of-100000.parquet", last)
		}
	case <-time.After(time.Minute):
		t.Error("not done in a minute")
	}
}

// TestManySubfolders has more subfolders than a process may have open files.
func TestManySubfolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	files := tree{}
	for i := range 1100 {
		files[fmt.Sprintf("%03d/1.png", i)] = fmt.Sprint(i)
	}
	for _, o := range []Options{{}, {Overwrite: true}} {
		if err := commitFolder(dir, ManifestMark, files, o); err != nil {
			t.Fatal(err)
		}
	}
	got := readTree(t, dir)
	for name, content := range files {
		if got[name] != content {
			t.Errorf("%s holds %q, want %q", name, got[name], content)
		}
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// TestDamagedManifests refuses manifests that idxport did not write, or that are damaged: only an
// intact one allows a folder to be replaced.
func TestDamagedManifests(t *testing.T) {
	t.Parallel()
	manifest := func(version int, content string) string {
		return fmt.Sprintf(`{"format":"idxport-folder","version":%d,"files":0,"bytes":0,"content":%q,"classes":{}}`, version, content)
	}
	for _, version := range []int{1, 2} {
		if _, err := ManifestMark.parse([]byte(manifest(version, zeros))); err != nil {
			t.Errorf("found %v, expected a manifest", err)
		}
	}
	for name, text := range map[string]string{
		"hash of 31 bytes": manifest(2, zeros[2:]), "no hexadecimal hash": manifest(2, zeros[1:]+"x"), "version 0": manifest(0, zeros),
		"version 3": manifest(3, zeros), "other format": strings.Replace(manifest(2, zeros), "idxport", "other", 1),
		"cut": manifest(2, zeros)[:60], "empty": "",
	} {
		if _, err := ManifestMark.parse([]byte(text)); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
		if _, err := CardMark.parse([]byte("# x\n" + cardBegin + text + cardEnd)); err == nil {
			t.Errorf("%s: it was accepted in a card", name)
		}
	}
}

// FuzzManifest parses foreign manifests. One that is accepted stays the same when it is written and
// parsed again.
func FuzzManifest(f *testing.F) {
	whole := `{"format":"idxport-folder","version":2,"files":1,"bytes":3,"content":"` + zeros + `","classes":{".":{"files":1,"names":"` + zeros + `"}}}`
	f.Add([]byte(whole))
	f.Add([]byte("# card\n" + cardBegin + whole + cardEnd))
	f.Add([]byte(cardBegin + cardEnd[1:]))
	f.Add([]byte(`{"format":"idxport-folder","version":2,"files":-1,"classes":{"../x":{}}}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = CardMark.parse(text) // it must not panic
		made, err := ManifestMark.parse(text)
		if err != nil {
			return
		}
		again, err := ManifestMark.parse(ManifestMark.text(made, nil))
		if err != nil || !reflect.DeepEqual(again, made) {
			t.Errorf("found %+v, then %+v, %v", made, again, err)
		}
	})
}
