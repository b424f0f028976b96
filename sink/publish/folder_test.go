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
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/fault"
)

// commitFolder publishes a folder of files, given as class/name or name, in the order of a map.
func commitFolder(path string, files tree, o Options) error {
	s, err := prepare((&faultyDisk{}).disk(), []Target{{Path: path, Folder: true}}, o)
	if err != nil {
		return err
	}
	defer s.Discard()
	for name, content := range files {
		class, base := filepath.Split(name)
		c, err := s.Folder(0).Class(strings.TrimSuffix(class, "/"))
		if err != nil {
			return err
		}
		if err := c.WriteFile(base, []byte(content)); err != nil {
			return err
		}
	}
	return s.Commit()
}

var someFiles = tree{"0/00001.png": "one", "0/00003.png": "three", "1/00002.png": "", "readme.txt": "hello"}

// TestManifestHashes compares the manifest with its definition in the package comment, computed by big integers.
func TestManifestHashes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	if err := commitFolder(dir, someFiles, Options{}); err != nil {
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

func addDigest(to *big.Int, data []byte) {
	digest := sha256.Sum256(data)
	to.Add(to, new(big.Int).SetBytes(digest[:]))
}

func digits(n *big.Int) string {
	modulus := new(big.Int).Lsh(big.NewInt(1), 256)
	return fmt.Sprintf("%064x", new(big.Int).Mod(n, modulus))
}

// TestManifestOrder: the same files make the same manifest, whichever goroutine comes first.
func TestManifestOrder(t *testing.T) {
	t.Parallel()
	var texts [2][]byte
	for run := range texts {
		dir := t.TempDir() + "/train"
		s, err := prepare((&faultyDisk{}).disk(), []Target{{Path: dir, Folder: true}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := worker; i < 1000; i += 4 {
					c, err := s.Folder(0).Class(fmt.Sprint(i % 10))
					if err == nil {
						err = c.WriteFile(fmt.Sprintf("%05d.png", i), bytes.Repeat([]byte{byte(i)}, i))
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		if texts[run], err = os.ReadFile(dir + "/_manifest.json"); err != nil {
			t.Fatal(err)
		}
		if files := readTree(t, dir); len(files) != 1000+10+1 || files["7/00317.png"] != strings.Repeat("\x3d", 317) {
			t.Errorf("%d files and folders", len(files))
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("two runs: %s and %s", texts[0], texts[1])
	}
}

// TestOnlyOursIsReplaced: whatever else an old folder holds makes overwriting fail, by name, and is still there afterwards.
func TestOnlyOursIsReplaced(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(t *testing.T, dir string)
		says   string // "" if it may be replaced
	}{
		{"untouched", func(*testing.T, string) {}, ""},
		{"a file beside the classes", func(t *testing.T, dir string) { write(t, dir+"/notes.txt", "") }, "notes.txt"},
		{"a file in a class", func(t *testing.T, dir string) { write(t, dir+"/0/thesis.doc", "") }, "thesis.doc"},
		{"two files in a class", func(t *testing.T, dir string) { write(t, dir+"/0/a.doc", ""); write(t, dir+"/0/00009.png", "") }, "4 files"},
		{"a file in another's place", func(t *testing.T, dir string) {
			write(t, dir+"/0/mine.png", "")
			os.Remove(dir + "/0/00001.png")
		}, "folder 0"},
		{"swapped between classes", func(t *testing.T, dir string) { os.Rename(dir+"/0/00001.png", dir+"/1/00001.png") }, "folder 0"},
		{"a folder", func(t *testing.T, dir string) { write(t, dir+"/mine/f", "") }, "mine"},
		{"a folder in a class", func(t *testing.T, dir string) { write(t, dir+"/1/deep/f", "") }, "deep"},
		{"a link", func(t *testing.T, dir string) { symlink(t, "0", dir+"/link") }, "link"},
		{"a class gone", func(t *testing.T, dir string) { os.RemoveAll(dir + "/1") }, "1 of the 2 class folders"},
		{"a file gone", func(t *testing.T, dir string) { os.Remove(dir + "/0/00001.png") }, "folder 0 holds 1 files"},
		{"another manifest", func(t *testing.T, dir string) { write(t, dir+"/_manifest.json", `{"format":"other"}`) }, "not a manifest of ours"},
		{"a later version", func(t *testing.T, dir string) {
			write(t, dir+"/_manifest.json", `{"format":"idxport-folder","version":3}`)
		}, "version 3, want 1"},
		{"no manifest", func(t *testing.T, dir string) { os.Remove(dir + "/_manifest.json") }, "no _manifest.json"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir() + "/train"
			if err := commitFolder(dir, someFiles, Options{}); err != nil {
				t.Fatal(err)
			}
			c.change(t, dir)
			before := readTree(t, filepath.Dir(dir))
			err := commitFolder(dir, tree{"5/1.png": "new"}, Options{Overwrite: true})
			if c.says == "" {
				if got, _ := os.ReadFile(dir + "/5/1.png"); err != nil || string(got) != "new" {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want a refusal that says %q", err, c.says)
			}
			if after := readTree(t, filepath.Dir(dir)); !maps.Equal(before, after) {
				t.Errorf("it changed: %v", after)
			}
		})
	}
}

// TestStrangerDuringRun: what appears in the old folder while the new one is made is found before the exchange.
func TestStrangerDuringRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	if err := commitFolder(dir, someFiles, Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := prepare((&faultyDisk{}).disk(), []Target{{Path: dir, Folder: true}}, Options{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	write(t, dir+"/1/mine.txt", "")
	if err := s.Commit(); !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "mine.txt") {
		t.Errorf("got %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s, err := Prepare([]Target{{Path: t.TempDir() + "/train", Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	for _, name := range []string{"", ".", "..", "a/b", "/a", `a\b`, "a\x00b", "a/", "\xff", "_manifest.json"} {
		if name != "" {
			if _, err := s.Folder(0).Class(name); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("folder %q: %v", name, err)
			}
		}
		c, err := s.Folder(0).Class("")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WriteFile(name, nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("file %q: %v", name, err)
		}
	}
}

// TestFailedWriteIsNotForgotten: a folder in which a write failed cannot be committed, even if the caller looks away.
func TestFailedWriteIsNotForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Prepare([]Target{{Path: dir + "/train", Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	c, err := s.Folder(0).Class("0")
	if err != nil {
		t.Fatal(err)
	}
	first, second := c.WriteFile("1.png", nil), c.WriteFile("1.png", nil)
	if first != nil || !errors.Is(second, fs.ErrExist) {
		t.Errorf("writing one name twice: %v, %v", first, second)
	}
	if err := s.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Commit: %v", err)
	}
}

// TestManyClasses: there may be more classes than open files.
func TestManyClasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/train"
	files := tree{}
	for i := range 1100 {
		files[fmt.Sprintf("%03d/1.png", i)] = fmt.Sprint(i)
	}
	if err := commitFolder(dir, files, Options{}); err != nil {
		t.Fatal(err)
	}
	got := readTree(t, dir)
	for name, content := range files {
		if got[name] != content {
			t.Errorf("%s holds %q, want %q", name, got[name], content)
		}
	}
	if err := commitFolder(dir, files, Options{Overwrite: true}); err != nil {
		t.Errorf("replacing it: %v", err)
	}
}

// TestListedWhileReplaced pins that a run which meets another one that replaces the folder does not take the folder for missing: to list a
// folder that was deleted after it had been opened fails with ENOENT.
func TestListedWhileReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustMake(t, dir, "old", Options{})
	for _, times := range []int{1, 1000} {
		d := &faultyDisk{fails: func(operation, path string) error {
			if operation != "readDir" || path != filepath.Join(dir, "train") || times == 0 {
				return nil
			}
			times--
			return &fs.PathError{Op: "readdirent", Path: path, Err: fs.ErrNotExist}
		}}
		s, err := prepare(d.disk(), []Target{{Path: filepath.Join(dir, "train"), Folder: true}}, Options{})
		if !errors.Is(err, fault.Exists) {
			t.Errorf("%d times: got %v, want that it exists", times, err)
		}
		if err == nil {
			s.Discard()
		}
	}
}
