package main

import (
	"crypto/md5" //nolint:gosec // S3 makes its ETags of it
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/idxport/idxport/test/object/fake"
)

// entries are the objects below a field of a report, by the base names of their paths.
func entries(t *testing.T, report map[string]any, field string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	list, _ := report[field].([]any)
	for _, e := range list {
		entry := e.(map[string]any)
		path := entry["path"].(string)
		found[path[strings.LastIndexByte(path, '/')+1:]] = entry
	}
	return found
}

// TestReportTellsVersions demands that reports have the ETag of an object exactly as the server
// sent it, and none for a file.
func TestReportTellsVersions(t *testing.T) {
	t.Parallel()
	_, at := storage(t)
	schema, dir := readSchema(t), t.TempDir()
	names := []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}
	for field, args := range map[string][]string{
		"inputs": {"convert", at("fashion/"), "--split", "train", "--rows", "3:5", "-o", dir + "/x.parquet"},
		"files":  {"inspect", at("fashion/"), "--split", "train"},
	} {
		stdout, code := ownJSON(args...)
		found := entries(t, follows(t, schema, stdout, code, 0), field)
		for _, name := range names {
			want := fmt.Sprintf(`"%x"`, md5.Sum(read(t, filepath.Join(fashion, name)))) //nolint:gosec // likewise
			if got := found[name]["etag"]; got != want || found[name]["sequential"] != true {
				t.Errorf("%s of %s: found the ETag %v in %v, expected %s, and that it is read from its start", field, name, got, found[name], want)
			}
		}
		if strings.Contains(string(stdout), "endpoint") {
			t.Errorf("parameters are shown: %s", stdout)
		}
	}
	stdout, code := ownJSON("convert", fashion, "--split", "train", "-o", dir+"/y.parquet")
	for name, entry := range entries(t, follows(t, schema, stdout, code, 0), "inputs") {
		if _, ok := entry["etag"]; ok || entry["source_rows"] != nil {
			t.Errorf("%s: found %v, expected no ETag and no other number of rows", name, entry)
		}
	}
}

// TestReportTellsWhatRowsAreOf demands the number of rows of the whole input beside that of --rows,
// and that an uncompressed file is not called sequential.
func TestReportTellsWhatRowsAreOf(t *testing.T) {
	t.Parallel()
	schema, dir := readSchema(t), t.TempDir()
	if code, said := runProgram("convert", filepath.Join(fashion, "t10k-labels-idx1-ubyte.gz"), "-o", "idx="+dir+"/labels"); code != 0 {
		t.Fatal(said)
	}
	plain := read(t, filepath.Join(dir, "labels"))
	rows := float64(len(plain) - 8) // a header of four bytes and one dimension, then a byte each
	stdout, code := ownJSON("convert", filepath.Join(dir, "labels"), "--rows", "0:0", "-o", dir+"/x.csv")
	entry := entries(t, follows(t, schema, stdout, code, 0), "inputs")["labels"]
	if entry["rows"] != 0.0 || entry["source_rows"] != rows || entry["sequential"] != nil {
		t.Errorf("found %v, expected no rows of %v, and that it can be entered anywhere", entry, rows)
	}
}

// TestRunReadsOneVersion replaces an object between two of the times that a run opens it.
func TestRunReadsOneVersion(t *testing.T) {
	t.Parallel()
	const key = "x-idx1-ubyte"
	s := fake.New()
	s.Put(key, []byte("\x00\x00\x08\x01\x00\x00\x00\x02ab"))
	var read atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		if r.Method == http.MethodGet && read.Add(1) == 1 {
			s.Put(key, []byte("\x00\x00\x08\x01\x00\x00\x00\x02cd"))
		}
	}))
	defer server.Close()
	code, said := runProgram("convert", "s3://bkt/"+key+"?anonymous=true&use_path_style=true&endpoint="+url.QueryEscape(server.URL), "-o", "csv=-")
	if code != exitIO || !strings.Contains(said, "s3://bkt/"+key+": changed while it was read") {
		t.Errorf("exit %d, expected %d: %s", code, exitIO, said)
	}
	if read.Load() == 0 {
		t.Error("nothing was read: the test is broken")
	}
}
