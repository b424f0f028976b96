package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/object/fake"
)

// storage is a server with the files of fashion below fashion/, and the URL of an object there.
func storage(t *testing.T) (*fake.Server, func(key string) string) {
	t.Helper()
	s := fake.New()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	entries, err := os.ReadDir(fashion)
	if err != nil || len(entries) < 4 {
		t.Fatalf("found %d files, %v", len(entries), err)
	}
	for _, e := range entries {
		s.Put("fashion/"+e.Name(), read(t, filepath.Join(fashion, e.Name())))
	}
	return s, func(key string) string {
		return "s3://bkt/" + key + "?anonymous=true&use_path_style=true&endpoint=" + url.QueryEscape(server.URL)
	}
}

// TestObjectsAreAsFiles compares runs from and to objects with runs on files.
func TestObjectsAreAsFiles(t *testing.T) {
	t.Parallel()
	s, at := storage(t)
	dir := t.TempDir()
	must := func(args ...string) {
		t.Helper()
		if code, said := runProgram(args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, said)
		}
	}
	formats := []string{"parquet", "csv", "arrow"}
	must("convert", fashion, "-o", dir+"/files/", "--to", strings.Join(formats, ","))
	must("convert", at("fashion/"), "-o", dir+"/objects/", "--to", strings.Join(formats, ","))
	must("convert", at("fashion"), "-o", at("out/"), "--to", strings.Join(formats, ","))
	for _, split := range []string{"train", "test"} {
		for _, format := range formats {
			name := split + "." + format
			want := read(t, filepath.Join(dir, "files", name))
			if got := read(t, filepath.Join(dir, "objects", name)); !bytes.Equal(got, want) {
				t.Errorf("%s from objects: %d bytes, expected the %d of the one from files", name, len(got), len(want))
			}
			if got, _ := s.Get("out/" + name); !bytes.Equal(got, want) {
				t.Errorf("%s to an object: %d bytes, expected the %d of the file", name, len(got), len(want))
			}
			must("verify", at("out/"+name), fashion)
		}
	}
	must("convert", at("out/train.parquet"), "-o", "idx="+at("back/"))
	must("convert", filepath.Join(dir, "files", "train.parquet"), "-o", "idx="+dir+"/back/")
	for _, name := range []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"} {
		if got, _ := s.Get("back/" + name); !bytes.Equal(got, read(t, filepath.Join(dir, "back", name))) {
			t.Errorf("%s: %d bytes, expected those of the file", name, len(got))
		}
	}
	if s.Left() != 0 {
		t.Errorf("%d uploads are left", s.Left())
	}
}

// TestArraysInObjects reads arrays in archives from objects, in few requests.
func TestArraysInObjects(t *testing.T) {
	t.Parallel()
	s, at := storage(t)
	dir := t.TempDir()
	if code, said := runProgram("convert", fashion, "--split", "train", "-o", "npy="+dir+"/"); code != exitOK {
		t.Fatal(said)
	}
	foreign := filepath.Join("..", "..", "testdata", "foreign")
	for name, content := range map[string][]byte{
		"keras.npz":  read(t, filepath.Join(foreign, "keras.npz")),
		"images.npz": zipped("arr_0.npy", read(t, filepath.Join(dir, "train-image.npy"))),
	} {
		s.Put("arrays/"+name, content)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		before := len(s.Asked())
		if code, said := runProgram("verify", at("arrays/"+name), filepath.Join(dir, name)); code != exitOK {
			t.Errorf("%s: exit %d: %s", name, code, said)
		}
		if n := len(s.Asked()) - before; n > 20 {
			t.Errorf("%s: %d requests, expected few", name, n)
		}
	}
}

// TestNoCredentials runs where the metadata server of a cloud knows no credentials: there is one
// error, and nothing that the client of S3 writes by itself.
func TestNoCredentials(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer metadata.Close()
	dir := t.TempDir()
	command := exec.Command("idxport", "convert", "s3://bkt/x.idx?endpoint="+url.QueryEscape(metadata.URL), "-o", filepath.Join(dir, "x.csv"))
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + metadata.URL,
		"GOCOVERDIR=" + t.TempDir()} // `make cover` complains without it
	said, err := command.CombinedOutput()
	want := regexp.MustCompile(`^idxport: s3://bkt/x\.idx: no credentials found: 404 Not Found\nhint: set AWS_ACCESS_KEY_ID and [^\n]+\n$`)
	if command.ProcessState.ExitCode() != exitPermission || !want.Match(said) || len(asked) == 0 {
		t.Errorf("found %v after %d requests for credentials, expected exit %d:\n%s", err, len(asked), exitPermission, said)
	}
}

// TestObjectsAreWholeOrAbsent demands that no failure leaves a new object or an upload.
func TestObjectsAreWholeOrAbsent(t *testing.T) {
	t.Parallel()
	s, at := storage(t)
	s.Put("taken.csv", []byte("old"))
	truncated := filepath.Join(t.TempDir(), "cut-idx3-ubyte.gz")
	whole := read(t, filepath.Join(fashion, "train-images-idx3-ubyte.gz"))
	if err := os.WriteFile(truncated, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(fashion, "train-images-idx3-ubyte.gz")
	before := len(s.Asked())
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"an input that is cut", 65, []string{"convert", truncated, "-o", at("x.csv")}},
		{"one output is taken", 73, []string{"convert", image, "-o", at("x.npy"), "-o", at("taken.csv")}},
		{"a local output cannot be made", 73, []string{"convert", image, "-o", at("x.npy"), "-o", truncated + "/x.npy"}},
		{"no such input", 66, []string{"convert", at("none"), "-o", at("x.npy")}},
		{"no such bucket", 73, []string{"convert", image, "-o", strings.Replace(at("x.npy"), "/bkt/", "/none/", 1)}},
		{"a folder of images", 64, []string{"convert", image, "-o", "png=" + at("x")}},
		{"many files", 64, []string{"convert", image, "-o", at("x.parquet"), "--rows-per-file", "10"}},
		{"the Hub's folder", 64, []string{"convert", fashion, "-o", at("x/"), "--layout", "huggingface"}},
		{"--verify", 64, []string{"convert", image, "-o", at("x.npy"), "--verify"}},
		{"--if-changed", 64, []string{"convert", image, "-o", at("x.npy"), "--if-changed"}},
		{"--if-changed of an object", 64, []string{"convert", at("fashion/train-images-idx3-ubyte.gz"), "-o", t.TempDir() + "/x.npy", "--if-changed"}},
		{"an input as output", 73, []string{"convert", at("fashion/train-images-idx3-ubyte.gz"), "-o", "npy=" + at("fashion/train-images-idx3-ubyte.gz"), "--overwrite"}},
		{"a sheet", 64, []string{"preview", fashion, "-o", at("x.png")}},
		{"a secret in the URL", 64, []string{"inspect", at("x") + "&secret=hunter2"}},
		{"no bucket", 64, []string{"inspect", "s3://"}},
	} {
		code, said := runProgram(c.args...)
		if code != c.code || strings.Contains(said, "hunter2") || strings.Contains(said, "endpoint=http") {
			t.Errorf("%s: exit %d, expected %d: %s", c.name, code, c.code, said)
		}
	}
	for _, key := range []string{"x.csv", "x.npy", "x", "x.parquet", "x/train.parquet", "x.png"} {
		if _, ok := s.Get(key); ok {
			t.Errorf("%s is there", key)
		}
	}
	if old, _ := s.Get("taken.csv"); string(old) != "old" || s.Left() != 0 {
		t.Errorf("found %q, and %d uploads", old, s.Left())
	}
	if len(s.Asked()) == before {
		t.Error("the server was not asked: the test is broken")
	}
	if code, said := runProgram("convert", image, "-o", at("taken.csv"), "--overwrite"); code != 0 {
		t.Errorf("--overwrite: exit %d: %s", code, said)
	}
	if now, _ := s.Get("taken.csv"); len(now) < 1000 {
		t.Errorf("--overwrite left %q", now)
	}
}
