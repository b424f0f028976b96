//go:build !lean

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/test/object/fake"
)

// plain stores the training files of fashion below plain/, not compressed.
func plain(t *testing.T, s *fake.Server) {
	t.Helper()
	for _, name := range []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"} {
		s.Put("plain/"+name, gunzipped(t, filepath.Join(fashion, name+".gz")))
	}
}

func gunzipped(t *testing.T, path string) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// digits are those of a plan in the name of a part.
var digits = regexp.MustCompile(`-[0-9a-f]{8}`)

// seen are the keys below a prefix, without the digits of the plan.
func seen(s *fake.Server, prefix string) (keys []string) {
	for _, key := range s.Keys() {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			keys = append(keys, digits.ReplaceAllString(name, ""))
		}
	}
	return keys
}

// TestPlanOfObjects: inputs, the plan and the parts are objects; what comes out has the bytes that
// a plan of files makes.
func TestPlanOfObjects(t *testing.T) {
	t.Parallel()
	s, at := storage(t)
	plain(t, s)
	dir := t.TempDir()
	must := func(args ...string) string {
		t.Helper()
		code, said := runProgram(args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, said)
		}
		return said
	}
	if said := must("plan", at("plain/"), "--dataset", "fashion-mnist", "-o", at("out/"), "--to", "csv", "--rows-per-part", "400", "--plan", at("plan.json")); strings.Contains(said, "already exists") {
		t.Errorf("plan: %s", said)
	}
	if text, _ := s.Get("plan.json"); !bytes.Contains(text, []byte(`"path": "s3://bkt/out/train.csv"`)) || bytes.Contains(text, []byte(`xxh3`)) {
		t.Fatalf("the plan is %s", text)
	}
	plan := "s3://bkt/plan.json" + strings.TrimPrefix(at(""), "s3://bkt/")
	if said := must("status", "--plan", plan); !strings.Contains(said, "0-2") {
		t.Errorf("status: %s", said)
	}
	var all sync.WaitGroup
	for part := range 3 {
		for range 2 { // attempts at once
			all.Go(func() {
				if code, said := runProgram("convert", "--plan", plan, "--part", fmt.Sprint(part)); code != 0 {
					t.Errorf("part %d: exit %d: %s", part, code, said)
				}
			})
		}
	}
	if code, said := runProgram("commit", "--plan", plan); code != 73 && code != 0 {
		t.Errorf("a commit too early: exit %d: %s", code, said)
	}
	all.Wait()
	must("commit", "--plan", plan)
	if said := must("commit", "--plan", plan); !strings.Contains(said, "unchanged") {
		t.Errorf("again: %s", said)
	}
	if said := must("convert", "--plan", plan, "--part", "1"); !strings.Contains(said, "already committed") {
		t.Errorf("late: %s", said)
	}
	if keys := strings.Join(seen(s, "out/"), " "); keys != "train.csv/_SUCCESS train.csv/part-00000.csv train.csv/part-00001.csv train.csv/part-00002.csv" || s.Left() != 0 {
		t.Errorf("found %s, and %d uploads", keys, s.Left())
	}
	for _, name := range []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"} {
		data, _ := s.Get("plain/" + name)
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must("convert", dir, "--dataset", "fashion-mnist", "--rows-per-file", "400", "--to", "csv", "-o", dir+"/out/")
	local, err := filepath.Glob(filepath.Join(dir, "out", "train.csv", "part-*"))
	if err != nil || len(local) != 3 {
		t.Fatalf("found %d files, %v", len(local), err)
	}
	for _, key := range s.Keys() {
		name, ok := strings.CutPrefix(key, "out/train.csv/part-")
		if !ok {
			continue
		}
		number, err := strconv.Atoi(name[:5])
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Get(key); !bytes.Equal(got, read(t, local[number])) {
			t.Errorf("%s has %d bytes, not those of %s", key, len(got), local[number])
		}
	}
}

// TestPlanOfObjectsRefuses: nothing is seen before commit, other versions are no inputs, and
// nothing of anybody else is touched.
func TestPlanOfObjectsRefuses(t *testing.T) {
	t.Parallel()
	s, at := storage(t)
	plain(t, s)
	plan := filepath.Join(t.TempDir(), "plan.json")
	expect := func(code int, words string, args ...string) {
		t.Helper()
		found, said := runProgram(args...)
		if found != code || !strings.Contains(said, words) {
			t.Errorf("%v: exit %d, expected %d and %q: %s", args, found, code, words, said)
		}
	}
	expect(0, "", "plan", at("plain/"), "-o", at("out/"), "--to", "csv", "--rows-per-part", "500", "--plan", plan)
	expect(0, "", "convert", "--plan", plan, "--part", "0")
	if len(seen(s, "out/train.csv/")) != 0 || s.Left() != 1 {
		t.Errorf("found %v and %d uploads before commit", seen(s, "out/"), s.Left())
	}
	expect(73, "1 of 2 parts is missing: 1", "commit", "--plan", plan)

	labels, _ := s.Get("plain/train-labels-idx1-ubyte")
	other := bytes.Clone(labels)
	other[len(other)-1] ^= 1
	s.Put("plain/train-labels-idx1-ubyte", other)
	expect(65, "it has changed since the plan was made", "convert", "--plan", plan, "--part", "1")
	s.Put("plain/train-labels-idx1-ubyte", labels)
	expect(0, "", "convert", "--plan", plan, "--part", "1")

	s.Put("out/train.csv/mine", []byte("mine"))
	expect(73, "exists, and is not what this plan makes", "commit", "--plan", plan)
	s.Remove("out/train.csv/mine")
	expect(0, "2 files", "commit", "--plan", plan)

	expect(0, "", "plan", at("plain/"), "-o", at("again/"), "--to", "csv", "--rows-per-part", "500", "--plan", plan+"2")
	expect(0, "", "convert", "--plan", plan+"2", "--part", "1")
	expect(0, "", "abort", "--plan", plan+"2")
	expect(0, "", "abort", "--plan", plan) // of what is committed: it stays
	if len(seen(s, "again/")) != 0 || len(seen(s, "out/train.csv/")) != 3 || s.Left() != 0 {
		t.Errorf("found %v and %d uploads after abort", s.Keys(), s.Left())
	}
	expect(64, "", "plan", at("plain/"), "-o", "png="+at("png"), "--plan", plan+"3")
	expect(64, "", "plan", at("plain/"), "-o", at("x/"), "--layout", "huggingface", "--plan", plan+"3")
}
