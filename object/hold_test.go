//go:build !lean

package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob/memblob"
)

// heldSizes are those around the length of a part, in bytes.
var heldSizes = map[string]int{"empty": 0, "a byte": 1, "almost a part": testPart - 1, "a part": testPart, "more than a part": testPart + 1,
	"3 parts": 3 * testPart}

// another is a store as another process has it, and the object that hold makes as this store knows it.
func another(t *testing.T, query string, o Options) (*Store, string) {
	t.Helper()
	s := &Store{Options: o}
	name, err := s.Take("s3://b/x" + query)
	if err != nil {
		t.Fatal(err)
	}
	return s, name
}

// hold sends data as s3://b/x and leaves it unseen. The receipt has been in a file, as for another process.
func hold(t *testing.T, query string, data []byte) Receipt {
	t.Helper()
	w := create(t, &Store{Options: quick}, query, true)
	if err := write(w, data); err != nil {
		t.Fatal(err)
	}
	r, err := w.Hold()
	if err != nil {
		t.Fatal(err)
	}
	w.Discard()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read Receipt
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestHeldInOneStoreAndPublishedByAnother(t *testing.T) {
	t.Parallel()
	for name, size := range heldSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, query := serve(t, nil)
			f.Page = 1
			data := noise(size)
			r := hold(t, query, data)
			if _, ok := f.Get("x"); ok {
				t.Error("it is seen before Publish")
			}
			if parts := (size + testPart - 1) / testPart; len(r.Parts) != parts || f.Left() != min(parts, 1) || r.Bytes != int64(size) {
				t.Errorf("found %d parts, %d uploads and %d bytes, expected %d parts of %d bytes", len(r.Parts), f.Left(), r.Bytes, parts, size)
			}
			for range 2 { // again is as good
				s, object := another(t, query, quick)
				if err := s.Holds(t.Context(), object, r); err != nil {
					t.Error(err)
				}
				if err := s.Publish(t.Context(), object, r); err != nil {
					t.Error(err)
				}
				if got, ok := f.Get("x"); !ok || !bytes.Equal(got, data) || f.Left() != 0 {
					t.Errorf("found %d bytes, %v, and %d uploads; expected %d and none", len(got), ok, f.Left(), size)
				}
			}
			s, object := another(t, query, quick)
			if err := s.Drop(t.Context(), object, r); err != nil {
				t.Error(err)
			}
			if got, ok := f.Get("x"); !ok || !bytes.Equal(got, data) {
				t.Error("Drop has removed what was published")
			}
		})
	}
}

// TestReceiptIsWritten: nine digits, whose CRC-32 is the check value in the definition of the algorithm, cbf43926; their MD5 is md5sum's.
func TestReceiptIsWritten(t *testing.T) {
	t.Parallel()
	_, _, query := serve(t, nil)
	r := hold(t, query, []byte("123456789"))
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

func TestHoldEndsTheWriter(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	w := create(t, &Store{Options: quick}, query, false)
	if err := errors.Join(write(w, noise(10)), w.Complete()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Hold(); err != nil {
		t.Fatal(err)
	}
	w.Discard()
	if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit: %v", err)
	}
	if _, err := w.Hold(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Hold: %v", err)
	}
	if _, ok := f.Get("x"); ok || f.Left() != 1 {
		t.Errorf("seen %v, %d uploads", ok, f.Left())
	}
}

func TestPublishedByManyAtOnce(t *testing.T) {
	t.Parallel()
	for name, size := range heldSizes {
		f, _, query := serve(t, nil)
		data := noise(size)
		r := hold(t, query, data)
		var wait sync.WaitGroup
		for range 8 {
			s, object := another(t, query, quick)
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

// TestHeldTwice: two processes held the same bytes, and one receipt is published after the other.
func TestHeldTwice(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	data := noise(testPart + 1)
	first, second := hold(t, query, data), hold(t, query, data)
	s, object := another(t, query, quick)
	for _, r := range []Receipt{first, second, first} {
		if err := s.Publish(t.Context(), object, r); err != nil {
			t.Error(err)
		}
	}
	if f.Left() != 1 {
		t.Errorf("%d uploads are left, expected the second", f.Left())
	}
	if err := s.Drop(t.Context(), object, second); err != nil || f.Left() != 0 {
		t.Errorf("%v, %d uploads are left", err, f.Left())
	}
}

// TestSuccessIsNotTrusted: servers complete an upload again that was completed, with success, whatever has become of the object.
func TestSuccessIsNotTrusted(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	f.Repeats = true
	r := hold(t, query, noise(testPart+1))
	s, object := another(t, query, quick)
	for range 2 {
		if err := s.Publish(t.Context(), object, r); err != nil {
			t.Error(err)
		}
	}
	f.Put("x", []byte("another"))
	if err := s.Publish(t.Context(), object, r); !errors.Is(err, ErrExists) {
		t.Errorf("replaced: found %v, expected ErrExists", err)
	}
	f.Remove("x")
	if err := s.Publish(t.Context(), object, r); !errors.Is(err, ErrNoUpload) {
		t.Errorf("removed: found %v, expected ErrNoUpload", err)
	}
}

func TestPublishReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, size := range heldSizes {
		f, _, query := serve(t, nil)
		data := noise(size)
		r := hold(t, query, data)
		taken := append([]byte("another"), data...)[:max(size, 1)] // of the same length, but for an empty one
		if size == 1 {
			taken = []byte{data[0] + 1}
		}
		f.Put("x", taken)
		s, object := another(t, query, quick)
		for _, gone := range []bool{false, true} {
			if gone {
				f.Abort()
			}
			if err := s.Publish(t.Context(), object, r); !errors.Is(err, ErrExists) || err.Error() != "s3://b/x: already exists" {
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
	r := hold(t, query, noise(2*testPart))
	f.Abort()
	s, object := another(t, query, quick)
	for _, f := range []func() error{
		func() error { return s.Publish(t.Context(), object, r) },
		func() error { return s.Holds(t.Context(), object, r) },
	} {
		err := f()
		if !errors.Is(err, ErrNoUpload) || !errors.Is(err, ErrTransfer) || isNotFound(err) {
			t.Errorf("found %v, expected ErrNoUpload", err)
		}
		if err != nil && !strings.Contains(err.Error(), "expected 131072 bytes in 2 parts") {
			t.Errorf("%v does not say what was expected", err)
		}
	}
	if err := s.Drop(t.Context(), object, r); err != nil {
		t.Errorf("Drop: %v", err)
	}
	f.Put("x", []byte("another"))
	if err := s.Holds(t.Context(), object, r); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "another object is there") {
		t.Errorf("Holds with another object: %v", err)
	}
}

// TestOtherParts: the upload is not what the receipt says. The object is, in the end.
func TestOtherParts(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	f.Page = 2
	r := hold(t, query, noise(3*testPart+1))
	s, object := another(t, query, quick)
	for name, change := range map[string]func(*Receipt){
		"upload": func(r *Receipt) { r.Upload += "0" },
		"ETag":   func(r *Receipt) { r.Parts[3].ETag = r.Parts[0].ETag },
		"size":   func(r *Receipt) { r.Parts[0].Bytes--; r.Parts[1].Bytes++ },
		"less":   func(r *Receipt) { r.Parts, r.Bytes = r.Parts[:3], r.Bytes-1 },
		"more":   func(r *Receipt) { r.Parts, r.Bytes = append(r.Parts, r.Parts[3]), r.Bytes+1 },
	} {
		changed := r
		changed.Parts = slices.Clone(r.Parts)
		change(&changed)
		if err := s.Holds(t.Context(), object, changed); !errors.Is(err, ErrNoUpload) {
			t.Errorf("%s: found %v, expected ErrNoUpload", name, err)
		}
		if name == "size" { // of parts: the server knows them by their ETags
			continue
		}
		want := ErrNoUpload
		if name == "less" { // the parts are there, and the whole has another checksum
			want = ErrTransfer
		}
		if err := s.Publish(t.Context(), object, changed); !errors.Is(err, want) {
			t.Errorf("%s: found %v, expected %v", name, err, want)
		}
	}
	if _, ok := f.Get("x"); ok || f.Left() != 1 {
		t.Errorf("seen %v, %d uploads", ok, f.Left())
	}
	if err := errors.Join(s.Holds(t.Context(), object, r), s.Publish(t.Context(), object, r)); err != nil {
		t.Error(err)
	}
}

func TestBadReceipts(t *testing.T) {
	t.Parallel()
	_, p, query := serve(t, nil)
	s, object := another(t, query, quick)
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
		var r Receipt
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		for _, f := range []func(context.Context, string, Receipt) error{s.Publish, s.Holds, s.Drop} {
			if err := f(t.Context(), object, r); !errors.Is(err, ErrReceipt) {
				t.Errorf("%s: found %v, expected ErrReceipt", name, err)
			}
		}
	}
	if n := len(p.Done()); n != 0 {
		t.Errorf("the server was asked: %v", p.Done())
	}
}

func TestOnlyS3Holds(t *testing.T) {
	t.Parallel()
	memory := &Store{Options: quick, buckets: map[string]bucket{"gs://b/": &kit{bucket: memblob.OpenBucket(nil)}}}
	for name, s := range map[string]*Store{"gs://b/x": memory, "file://" + filepath.ToSlash(t.TempDir()) + "/x": {Options: quick}} {
		w, err := s.Create(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		_, holdErr := w.Hold()
		r := Receipt{CRC32: "AAAAAA=="}
		for _, err := range []error{holdErr, s.CanHold(t.Context(), name), s.Publish(t.Context(), name, r), s.Holds(t.Context(), name, r),
			s.Drop(t.Context(), name, r), s.Sweep(t.Context(), name, nil)} {
			if !errors.Is(err, ErrHold) {
				t.Errorf("%s: found %v, expected ErrHold", name, err)
			}
		}
		if err := errors.Join(write(w, []byte("text")), w.Commit()); err != nil { // Hold was not its end
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, query := serve(t, nil)
	s, object := another(t, query, quick)
	if err := s.CanHold(t.Context(), object); err != nil {
		t.Error(err)
	}
}
