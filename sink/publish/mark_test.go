package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
)

// names lists what lies in dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for name := range readTree(t, dir) {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// commitStreams publishes a folder of streamed files, each with its name for content.
func commitStreams(path string, mark Mark, o Options, files ...string) error {
	s, err := prepare((&faultyDisk{}).disk(), []Target{{Path: path, Folder: true, Mark: mark}}, o)
	if err != nil {
		return err
	}
	defer s.Discard()
	s.Folder(0).SetCard([]byte("# card\n"))
	for _, name := range files {
		class, base := filepath.Split(name)
		if err := stream(s.Folder(0), strings.TrimSuffix(class, "/"), base, name); err != nil {
			return err
		}
	}
	return s.Commit()
}

// TestNamesOfParts has the hash of nothing, 2d06800538d394c2, from the definition of XXH3.
func TestNamesOfParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/out.csv"
	s, err := prepare((&faultyDisk{}).disk(), []Target{{Path: dir, Folder: true, Mark: PartsMark}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	c, err := s.Folder(0).Class("")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"part-00000.csv.gz", "part-00001.csv.gz"} {
		f, err := c.Create(name)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	want := []string{"_SUCCESS", "part-00000-2d06800538d394c2.csv.gz", "part-00001-2d06800538d394c2.csv.gz"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	if info, err := os.Stat(dir + "/_SUCCESS"); err != nil || info.Size() != 0 {
		t.Errorf("_SUCCESS: %v, %v, expected it to be empty", info, err)
	}
}

// TestManyShards has as many streams as there may be, which take minutes if each is compared with all.
func TestManyShards(t *testing.T) {
	t.Parallel()
	c := &Class{name: "data"}
	all := make([]*Stream, 100_000)
	for i := range all {
		all[i] = &Stream{class: c, name: fmt.Sprintf("train-%05d.parquet", i)}
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

func TestNamesOfShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/hub"
	if err := commitStreams(dir, CardMark, Options{}, "data/train-00000.parquet", "data/train-00001.parquet", "data/train-b-00000.parquet",
		"data/test-1.5-00000.parquet"); err != nil {
		t.Fatal(err)
	}
	want := []string{"README.md", "data/", "data/test-1.5-00000-of-00001.parquet", "data/train-00000-of-00002.parquet",
		"data/train-00001-of-00002.parquet", "data/train-b-00000-of-00001.parquet"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	text, err := os.ReadFile(dir + "/README.md")
	if err != nil || !strings.HasPrefix(string(text), "# card\n<!-- {\"format\":\"idxport-folder\"") {
		t.Errorf("found the card %s, %v", text, err)
	}
}

// TestOnlyOurMarkIsReplaced changes a published folder in each way that makes it somebody else's.
func TestOnlyOurMarkIsReplaced(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		mark   Mark
		change func(dir string) error
		says   string // "" if it is replaced
	}{
		{name: "parts", mark: PartsMark},
		{"parts without mark", PartsMark, remove("_SUCCESS"), "no _SUCCESS"},
		{"parts and a file", PartsMark, add("mine.parquet"), "mine.parquet"},
		{"parts and a hidden file", PartsMark, add(".part-00000.parquet.crc"), ".crc"},
		{"parts and Spark's", PartsMark, add("part-00001-2a7f0000-0000-4000-8000-000000000000-c000.snappy.parquet"), "snappy"},
		{"parts of another kind", PartsMark, add("part-00001-0123456789abcdef.csv"), "csv"},
		{"parts with a gap", PartsMark, add("part-00002-0123456789abcdef.parquet"), "part-00002"},
		{"a mark that is not empty", PartsMark, func(dir string) error { return os.WriteFile(dir+"/_SUCCESS", []byte("x"), 0o666) }, "_SUCCESS"},
		{name: "card", mark: CardMark},
		{"edited card", CardMark, func(dir string) error {
			text, err := os.ReadFile(dir + "/README.md")
			return errors.Join(err, os.WriteFile(dir+"/README.md", append([]byte("mine\n"), text...), 0o666))
		}, "edited"},
		{"another card", CardMark, func(dir string) error { return os.WriteFile(dir+"/README.md", []byte("mine\n"), 0o666) }, "not a card"},
		{"no card", CardMark, remove("README.md"), "no README.md"},
		{"card and a file", CardMark, add("mine.txt"), "mine.txt"},
		{"card and data", CardMark, add("data/mine.parquet"), "mine.parquet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, file := t.TempDir()+"/out", "part-00000.parquet"
			if test.mark == CardMark {
				file = "data/train-00000.parquet"
			}
			err := commitStreams(dir, test.mark, Options{}, file)
			if err == nil && test.change != nil {
				err = test.change(dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := readTree(t, dir)
			err = commitStreams(dir, test.mark, Options{Overwrite: true}, file, strings.Replace(file, "0.p", "1.p", 1))
			if test.says == "" {
				if err != nil || len(readTree(t, dir)) != len(before)+1 {
					t.Errorf("found %v, %v, expected the new parts", readTree(t, dir), err)
				}
				return
			}
			if !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("found error %v, expected one about %s", err, test.says)
			}
		})
	}
}

func add(name string) func(string) error {
	return func(dir string) error { return os.WriteFile(dir+"/"+name, []byte("mine"), 0o666) }
}

func remove(name string) func(string) error {
	return func(dir string) error { return os.Remove(dir + "/" + name) }
}

// TestStreamMustBeClosed and made once.
func TestStreamMustBeClosed(t *testing.T) {
	t.Parallel()
	s, err := prepare((&faultyDisk{}).disk(), []Target{{Path: t.TempDir() + "/out", Folder: true, Mark: PartsMark}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	c, err := s.Folder(0).Class("")
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
	for name, want := range map[string]error{"part-00000.parquet": fs.ErrExist, "_SUCCESS": fs.ErrInvalid, "a/b": fs.ErrInvalid} {
		if _, err := c.Create(name); !errors.Is(err, want) {
			t.Errorf("%s: found %v, expected %v", name, err, want)
		}
	}
}
