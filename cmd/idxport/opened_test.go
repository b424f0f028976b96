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

// TestReportTellsVersions demands that reports have the ETag of an object exactly as the server
// sent it. For files, jsonRuns demands none.
func TestReportTellsVersions(t *testing.T) {
	t.Parallel()
	_, at := storage(t)
	for field, args := range map[string][]string{
		"inputs": {"convert", at("fashion/"), "--split", "train", "--rows", "3:5", "-o", t.TempDir() + "/x.parquet"},
		"files":  {"inspect", at("fashion/"), "--split", "train"},
	} {
		stdout, _, code := runJSON(args...)
		report := follows(t, stdout, code, exitOK)
		for i, name := range webNames {
			want := fmt.Sprintf(`"%x"`, md5.Sum(read(t, filepath.Join(fashion, name)))) //nolint:gosec // likewise
			entry := valueAt(report, fmt.Sprint(field, "/", i))
			if valueAt(entry, "etag") != want || valueAt(entry, "sequential") != true {
				t.Errorf("%s: found %v, expected the ETag %s, and that it is read from its start", name, entry, want)
			}
		}
		if strings.Contains(string(stdout), "endpoint") {
			t.Errorf("parameters are shown: %s", stdout)
		}
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
	code, said := runProgram("convert", "-o", "csv=-",
		"s3://bkt/"+key+"?anonymous=true&use_path_style=true&endpoint="+url.QueryEscape(server.URL))
	if code != exitIO || !strings.Contains(said, "s3://bkt/"+key+": changed while it was read") {
		t.Errorf("exit %d, expected %d: %s", code, exitIO, said)
	}
	if read.Load() == 0 {
		t.Error("nothing was read: the test is broken")
	}
}
