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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fails := map[string]int{"/bkt/denied-classes.txt": 403, "/bkt/a-classes.txt": 501}
		if status := fails[r.URL.Path]; status > 0 {
			w.WriteHeader(status)
		} else {
			s.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for name, data := range contents(t, fashion) {
		s.Put("fashion/"+name, data)
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
	formats := []string{"parquet", "csv", "arrow"}
	succeed(t, "convert", fashion, "-o", dir+"/files/", "--to", strings.Join(formats, ","))
	succeed(t, "convert", at("fashion/"), "-o", dir+"/objects/", "--to", strings.Join(formats, ","))
	succeed(t, "convert", at("fashion"), "-o", at("out/"), "--to", strings.Join(formats, ","))
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
			succeed(t, "verify", at("out/"+name), fashion)
		}
	}
	succeed(t, "convert", at("out/train.parquet"), "-o", "idx="+at("back/"))
	succeed(t, "convert", filepath.Join(dir, "files", "train.parquet"), "-o", "idx="+dir+"/back/")
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
	succeed(t, "convert", fashion, "--split", "train", "-o", "npy="+dir+"/")
	for name, content := range map[string][]byte{
		"keras.npz":  read(t, filepath.Join(samples, "foreign", "keras.npz")),
		"images.npz": zipped("arr_0.npy", read(t, filepath.Join(dir, "train-image.npy"))),
	} {
		s.Put("arrays/"+name, content)
		before := len(s.Asked())
		succeed(t, "verify", at("arrays/"+name), writeFile(t, dir, name, content))
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
	object := "s3://bkt/x.idx?endpoint=" + url.QueryEscape(metadata.URL)
	command := exec.Command("idxport", "convert", object, "-o", filepath.Join(dir, "x.csv"))
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + metadata.URL,
		"GOCOVERDIR=" + t.TempDir()} // `make cover` complains without it
	said, err := command.CombinedOutput()
	want := regexp.MustCompile(`^idxport: s3://bkt/x\.idx: no credentials found: 404 Not Found\n` +
		`hint: set AWS_ACCESS_KEY_ID and [^\n]+\n$`)
	if command.ProcessState.ExitCode() != exitPermission || !want.Match(said) || len(asked) == 0 {
		t.Errorf("found %v after %d requests for credentials, expected exit %d:\n%s",
			err, len(asked), exitPermission, said)
	}
}

// TestObjectsAreWholeOrAbsent demands that no failure leaves a new object or an upload.
func TestObjectsAreWholeOrAbsent(t *testing.T) {
	t.Parallel()
	s, at := storage(t)
	s.Put("taken.csv", []byte("old"))
	s.Put("photos/cat/1.png", []byte("\x89PNG\r\n\x1a\n"))
	const name = "train-images-idx3-ubyte.gz"
	image := filepath.Join(fashion, name)
	whole := read(t, image)
	for _, key := range []string{"denied-labels.idx", "a-labels.idx", "bad/a-labels.idx", "bad/a-classes.txt"} {
		s.Put(key, []byte("\x00\x00\x08\x01\x00\x00\x00\x01\x00"))
	}
	truncated := writeFile(t, t.TempDir(), "cut-idx3-ubyte.gz", whole[:len(whole)/2])
	for _, c := range []struct {
		name     string
		code     int
		in, args string
	}{
		{"an input that is cut", 65, truncated, "convert -o " + at("x.csv")},
		{"one output is taken", 73, image, "convert -o " + at("x.npy") + " -o " + at("taken.csv")},
		{"a local output cannot be made", 73, image, "convert -o " + at("x.npy") + " -o " + truncated + "/x.npy"},
		{"no such input", 66, at("none"), "convert -o " + at("x.npy")},
		{"a list of names that fails", 74, at("a-labels.idx"), "convert -o " + at("x.npy")},
		{"a list of names that is none", 65, at("bad/a-labels.idx"), "convert -o " + at("x.npy")},
		{"no such bucket", 73, image, "convert -o " + strings.Replace(at("x.npy"), "/bkt/", "/none/", 1)},
		{"a folder of images", 64, image, "convert -o png=" + at("x")},
		{"many files", 64, image, "convert --rows-per-file 10 -o " + at("x.parquet")},
		{"the Hub's folder", 64, fashion, "convert --layout huggingface -o " + at("x/")},
		{"--verify", 64, image, "convert --verify -o " + at("x.npy")},
		{"--if-changed", 64, image, "convert --if-changed -o " + at("x.npy")},
		{"--if-changed of an object", 64, at("fashion/" + name), "convert --if-changed -o " + t.TempDir() + "/x.npy"},
		{"images in objects", 64, at("photos"), "convert -o " + t.TempDir() + "/x.npy"},
		{"an input as output", 73, at("fashion/" + name), "convert --overwrite -o npy=" + at("fashion/"+name)},
		{"a sheet", 64, fashion, "preview -o " + at("x.png")},
		{"a secret in the URL", 64, at("x") + "&secret=hunter2", "inspect"},
		{"no bucket", 64, "s3://", "inspect"},
	} {
		code, said := runProgram(append(strings.Fields(c.args), c.in)...)
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
	succeed(t, "convert", image, "-o", at("taken.csv"), "--overwrite")
	succeed(t, "convert", at("denied-labels.idx"), "-o", at("denied.npy")) // whose names may be missing
	if now, _ := s.Get("taken.csv"); len(now) < 1000 {
		t.Errorf("--overwrite left %q", now)
	}
}
