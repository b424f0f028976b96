//go:build !lean

package object

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"gocloud.dev/blob/memblob"

	"github.com/idxport/idxport/fault"
)

// TestS3Config reads parameters as docs/object-storage.md has them.
func TestS3Config(t *testing.T) {
	t.Parallel()
	c, err := s3Config(t.Context(), url.Values{"region": {"eu-central-1"}, "anonymous": {"true"},
		"request_checksum_calculation": {"when_required"}, "response_checksum_validation": {"when_required"}})
	if err != nil || c.Region != "eu-central-1" || !aws.IsCredentialsProvider(c.Credentials, aws.AnonymousCredentials{}) ||
		c.RequestChecksumCalculation != aws.RequestChecksumCalculationWhenRequired || c.ResponseChecksumValidation != aws.ResponseChecksumValidationWhenRequired {
		t.Errorf("found %+v, %v", c, err)
	}
	for _, name := range []string{"anonymous", "request_checksum_calculation", "response_checksum_validation"} {
		if _, err := s3Config(t.Context(), url.Values{name: {"maybe"}}); err == nil {
			t.Errorf("%s=maybe is taken", name)
		}
	}
	if _, err := s3Config(t.Context(), url.Values{"profile": {"no-such-profile"}}); err == nil {
		t.Error("a profile that does not exist is taken")
	}
}

// TestKit is the way of all storages but S3, on one in memory and on files.
func TestKit(t *testing.T) {
	t.Parallel()
	memory := &Store{Options: quick, buckets: map[string]bucket{"gs://b/": &kit{bucket: memblob.OpenBucket(nil)}}}
	for name, s := range map[string]*Store{"gs://b/d/x": memory, "file://" + filepath.ToSlash(t.TempDir()) + "/d/x": {Options: quick}} {
		data := noise(5*testPart + 7)
		w, err := s.Create(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(w, data), w.Complete()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s before Commit: %v", name, err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Discard()
		if _, err := s.Create(t.Context(), name, false); !errors.Is(err, ErrExists) {
			t.Errorf("%s, twice: %v", name, err)
		}
		r, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: read %d bytes, %v", name, len(got), err)
		}
		_ = r.Close()
		folder, _, _ := strings.Cut(name, "x")
		entries, err := s.ReadDir(t.Context(), folder)
		if err != nil || len(entries) != 1 || entries[0].Name() != "x" {
			t.Errorf("%s: %v, %v", folder, entries, err)
		}
	}
}

func TestKitDiscardsAndReplaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, name := &Store{Options: quick}, "file://"+filepath.ToSlash(dir)+"/x"
	for _, overwrite := range []bool{false, true} {
		w, err := s.Create(t.Context(), name, overwrite)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w, noise(3*testPart)); err != nil {
			t.Fatal(err)
		}
		w.Discard()
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("Discard left %v", left)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := s.Create(t.Context(), name, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(w, []byte("newer")), w.Commit()); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "x")); string(got) != "newer" {
		t.Errorf("found %q", got)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, fault.Changed) {
		t.Errorf("the old version, which is no more: %v", err)
	}
}
