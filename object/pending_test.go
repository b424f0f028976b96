//go:build !lean

package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/fault"
)

// stagedSizes are sizes around that of a part, in bytes.
var stagedSizes = map[string]int{"empty": 0, "a byte": 1, "almost a part": testPart - 1, "a part": testPart, "more than a part": testPart + 1,
	"3 parts": 3 * testPart}

// otherStore returns the store of another process, and the URL there of the object of stage.
func otherStore(t *testing.T, query string, o Options) (*Store, string) {
	t.Helper()
	s := &Store{Options: o}
	name, err := s.ParseArg("s3://bkt/x" + query)
	if err != nil {
		t.Fatal(err)
	}
	return s, name
}

// stage uploads data as s3://bkt/x without publishing it. It returns the upload as another process
// reads it from JSON.
func stage(t *testing.T, query string, data []byte) PendingUpload {
	t.Helper()
	w := create(t, &Store{Options: quick}, query, true)
	if err := write(w, data); err != nil {
		t.Fatal(err)
	}
	r, err := w.Stage()
	if err != nil {
		t.Fatal(err)
	}
	w.Discard()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read PendingUpload
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestStagedInOneStoreAndPublishedByAnother(t *testing.T) {
	t.Parallel()
	for name, size := range stagedSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, query := serve(t, nil)
			f.Page = 1
			data := noise(size)
			r := stage(t, query, data)
			if _, ok := f.Get("x"); ok {
				t.Error("it is visible before Publish")
			}
			if parts := (size + testPart - 1) / testPart; len(r.Parts) != parts || f.Left() != min(parts, 1) || r.Bytes != int64(size) {
				t.Errorf("found %d parts, %d uploads and %d bytes, expected %d parts of %d bytes", len(r.Parts), f.Left(), r.Bytes, parts, size)
			}
			for range 2 { // the second time changes nothing
				s, object := otherStore(t, query, quick)
				if err := s.Check(t.Context(), object, r); err != nil {
					t.Error(err)
				}
				if err := s.Publish(t.Context(), object, r); err != nil {
					t.Error(err)
				}
				if got, ok := f.Get("x"); !ok || !bytes.Equal(got, data) || f.Left() != 0 {
					t.Errorf("found %d bytes, %v, and %d uploads; expected %d and none", len(got), ok, f.Left(), size)
				}
			}
			s, object := otherStore(t, query, quick)
			if err := s.Abort(t.Context(), object, r); err != nil {
				t.Error(err)
			}
			if got, ok := f.Get("x"); !ok || !bytes.Equal(got, data) {
				t.Error("Abort has removed what was published")
			}
		})
	}
}

// TestPendingUploadIsWritten stages nine digits. Their CRC-32 is the check value in the definition
// of the algorithm, cbf43926; their MD5 is that of md5sum.
func TestPendingUploadIsWritten(t *testing.T) {
	t.Parallel()
	_, _, query := serve(t, nil)
	r := stage(t, query, []byte("123456789"))
	if r.Upload == "" {
		t.Error("found no upload")
	}
	r.Upload = "ID"
	text, err := json.Marshal(r)
	const want = `{"upload":"ID","bytes":9,"crc32":"y/Q5Jg==","parts":[{"etag":"\"25f9e794323b453885f5181f1b624d0b\"","crc32":"y/Q5Jg==","bytes":9}]}`
	if err != nil || string(text) != want {
		t.Errorf("found %s, %v, expected %s", text, err, want)
	}
}

func TestStageEndsTheWriter(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	w := create(t, &Store{Options: quick}, query, false)
	if err := errors.Join(write(w, noise(10)), w.Complete()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Stage(); err != nil {
		t.Fatal(err)
	}
	w.Discard()
	if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit: %v", err)
	}
	if _, err := w.Stage(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Stage: %v", err)
	}
	if _, ok := f.Get("x"); ok || f.Left() != 1 {
		t.Errorf("visible %v, %d uploads", ok, f.Left())
	}
}

func TestPublishedByManyAtOnce(t *testing.T) {
	t.Parallel()
	for name, size := range stagedSizes {
		f, _, query := serve(t, nil)
		data := noise(size)
		r := stage(t, query, data)
		var wait sync.WaitGroup
		for range 8 {
			s, object := otherStore(t, query, quick)
			wait.Go(func() {
				if err := s.Publish(t.Context(), object, r); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		wait.Wait()
		if got, ok := f.Get("x"); !ok || !bytes.Equal(got, data) || f.Left() != 0 {
			t.Errorf("%s: found %d bytes and %d uploads", name, len(got), f.Left())
		}
	}
}

// TestStagedTwice has two processes stage the same bytes, and publishes one upload after the other.
func TestStagedTwice(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	data := noise(testPart + 1)
	first, second := stage(t, query, data), stage(t, query, data)
	s, object := otherStore(t, query, quick)
	for _, r := range []PendingUpload{first, second, first} {
		if err := s.Publish(t.Context(), object, r); err != nil {
			t.Error(err)
		}
	}
	if f.Left() != 1 {
		t.Errorf("%d uploads are left, expected the second", f.Left())
	}
	if err := s.Abort(t.Context(), object, second); err != nil || f.Left() != 0 {
		t.Errorf("%v, %d uploads are left", err, f.Left())
	}
}

// TestSuccessIsNotTrusted has a server that reports success for an upload that was completed
// before, whatever happened to the object since.
func TestSuccessIsNotTrusted(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	f.Repeats = true
	r := stage(t, query, noise(testPart+1))
	s, object := otherStore(t, query, quick)
	for range 2 {
		if err := s.Publish(t.Context(), object, r); err != nil {
			t.Error(err)
		}
	}
	f.Put("x", []byte("another"))
	if err := s.Publish(t.Context(), object, r); !errors.Is(err, fault.Exists) {
		t.Errorf("replaced: found %v, expected fault.Exists", err)
	}
	f.Remove("x")
	if err := s.Publish(t.Context(), object, r); !errors.Is(err, ErrNoUpload) {
		t.Errorf("removed: found %v, expected ErrNoUpload", err)
	}
}

func TestPublishReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, size := range stagedSizes {
		f, _, query := serve(t, nil)
		data := noise(size)
		r := stage(t, query, data)
		taken := append([]byte("another"), data...)[:max(size, 1)] // of the same size, unless that is 0
		if size == 1 {
			taken = []byte{data[0] + 1}
		}
		f.Put("x", taken)
		s, object := otherStore(t, query, quick)
		for _, gone := range []bool{false, true} {
			if gone {
				f.Abort()
			}
			if err := s.Publish(t.Context(), object, r); !errors.Is(err, fault.Exists) || err.Error() != "s3://bkt/x: already exists" {
				t.Errorf("%s, upload gone %v: %v", name, gone, err)
			}
			if got, _ := f.Get("x"); !bytes.Equal(got, taken) {
				t.Errorf("%s: it was replaced", name)
			}
		}
	}
}

func TestUploadIsGone(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	r := stage(t, query, noise(2*testPart))
	f.Abort()
	s, object := otherStore(t, query, quick)
	for _, f := range []func() error{
		func() error { return s.Publish(t.Context(), object, r) },
		func() error { return s.Check(t.Context(), object, r) },
	} {
		err := f()
		if !errors.Is(err, ErrNoUpload) || !errors.Is(err, fault.IO) || errors.Is(err, fault.NotFound) {
			t.Errorf("found %v, expected ErrNoUpload", err)
		}
		if err != nil && !strings.Contains(err.Error(), "expected 131072 bytes in 2 parts") {
			t.Errorf("%v does not say what was expected", err)
		}
	}
	if err := s.Abort(t.Context(), object, r); err != nil {
		t.Errorf("Abort: %v", err)
	}
	f.Put("x", []byte("another"))
	if err := s.Check(t.Context(), object, r); !errors.Is(err, fault.Exists) {
		t.Errorf("Check with another object: %v", err)
	}
}

// TestOtherParts changes what is expected of an upload. The unchanged upload is published in the
// end.
func TestOtherParts(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	f.Page = 2
	r := stage(t, query, noise(3*testPart+1))
	s, object := otherStore(t, query, quick)
	for name, change := range map[string]func(*PendingUpload){
		"upload": func(r *PendingUpload) { r.Upload += "0" },
		"ETag":   func(r *PendingUpload) { r.Parts[3].ETag = r.Parts[0].ETag },
		"size":   func(r *PendingUpload) { r.Parts[0].Bytes--; r.Parts[1].Bytes++ },
		"less":   func(r *PendingUpload) { r.Parts, r.Bytes = r.Parts[:3], r.Bytes-1 },
		"more":   func(r *PendingUpload) { r.Parts, r.Bytes = append(r.Parts, r.Parts[3]), r.Bytes+1 },
	} {
		changed := r
		changed.Parts = slices.Clone(r.Parts)
		change(&changed)
		if err := s.Check(t.Context(), object, changed); !errors.Is(err, ErrNoUpload) {
			t.Errorf("%s: found %v, expected ErrNoUpload", name, err)
		}
		if name == "size" { // the server only compares the ETags of parts
			continue
		}
		want := ErrNoUpload
		if name == "less" { // the parts exist, but the object has another checksum
			want = fault.IO
		}
		if err := s.Publish(t.Context(), object, changed); !errors.Is(err, want) {
			t.Errorf("%s: found %v, expected %v", name, err, want)
		}
	}
	if _, ok := f.Get("x"); ok || f.Left() != 1 {
		t.Errorf("visible %v, %d uploads", ok, f.Left())
	}
	if err := errors.Join(s.Check(t.Context(), object, r), s.Publish(t.Context(), object, r)); err != nil {
		t.Error(err)
	}
}

func TestDifferenceNamesThePart(t *testing.T) {
	t.Parallel()
	expected := []Part{{ETag: "a", Bytes: 5, number: 1}, {ETag: "b", Bytes: 5, number: 2}}
	if got := difference([]Part{expected[0], {ETag: "b", Bytes: 5, number: 3}}, expected); !strings.HasSuffix(got, "found part 3 instead of part 2") {
		t.Errorf("found %q", got)
	}
}

func TestBadPendingUploads(t *testing.T) {
	t.Parallel()
	_, p, query := serve(t, nil)
	s, object := otherStore(t, query, quick)
	for name, text := range map[string]string{
		"nothing":             `{}`,
		"no checksum":         `{"upload":"u","bytes":1,"parts":[{"etag":"e","bytes":1}]}`,
		"half a checksum":     `{"upload":"u","bytes":1,"crc32":"AAA=","parts":[{"etag":"e","bytes":1}]}`,
		"no upload":           `{"bytes":1,"crc32":"AAAAAA==","parts":[{"etag":"e","bytes":1}]}`,
		"bytes but no upload": `{"bytes":1,"crc32":"AAAAAA=="}`,
		"no parts":            `{"upload":"u","bytes":0,"crc32":"AAAAAA=="}`,
		"other bytes":         `{"upload":"u","bytes":3,"crc32":"AAAAAA==","parts":[{"etag":"e","bytes":1},{"etag":"e","bytes":1}]}`,
		"an empty part":       `{"upload":"u","bytes":1,"crc32":"AAAAAA==","parts":[{"etag":"e","bytes":1},{"etag":"e","bytes":0}]}`,
		"a negative part":     `{"upload":"u","bytes":1,"crc32":"AAAAAA==","parts":[{"etag":"e","bytes":2},{"etag":"e","bytes":-1}]}`,
		"no ETag":             `{"upload":"u","bytes":1,"crc32":"AAAAAA==","parts":[{"bytes":1}]}`,
	} {
		var r PendingUpload
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		for _, f := range []func(context.Context, string, PendingUpload) error{s.Publish, s.Check, s.Abort} {
			if err := f(t.Context(), object, r); !errors.Is(err, fault.Malformed) {
				t.Errorf("%s: found %v, expected fault.Malformed", name, err)
			}
		}
	}
	if n := len(p.Done()); n != 0 {
		t.Errorf("the server was asked: %v", p.Done())
	}
}
