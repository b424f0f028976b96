//go:build !lean

package object

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/object/proxy"
)

func TestSmallObjects(t *testing.T) {
	t.Parallel()
	_, _, query := serve(t, nil)
	s, _ := otherStore(t, query, quick)
	const name = "s3://bkt/a/x"
	for _, data := range [][]byte{nil, []byte("x"), noise(headSize + 1)} {
		if err := s.Put(t.Context(), name, data, true); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), name, int64(len(data))); err != nil || !bytes.Equal(got, data) {
			t.Errorf("found %d bytes, %v, expected %d", len(got), err, len(data))
		}
	}
	if _, err := s.Get(t.Context(), name, headSize); !errors.Is(err, fault.Malformed) || !strings.HasSuffix(err.Error(), "found 65537 bytes, expected at most 65536") {
		t.Errorf("found %v, expected that it is too long", err)
	}
	if err := s.Put(t.Context(), name, []byte("new"), false); !errors.Is(err, fault.Exists) {
		t.Errorf("found %v, expected that it exists", err)
	}
	if entries, err := s.ReadDir(t.Context(), "s3://bkt/a"); err != nil || len(entries) != 1 || entries[0].Name() != "x" {
		t.Errorf("found %v, %v", entries, err)
	}
	for range 2 {
		if err := s.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), name, 1); !errors.Is(err, fault.NotFound) {
			t.Errorf("removed: %v", err)
		}
	}
	if err := s.Put(t.Context(), name, []byte("new"), false); err != nil {
		t.Error(err)
	}
	for _, err := range []error{s.Put(t.Context(), "s3://bkt/a/", nil, true), s.Remove(t.Context(), "s3://bkt/a/")} {
		if !errors.Is(err, fault.Usage) {
			t.Errorf("found %v, expected a usage error", err)
		}
	}
}

func TestPutIsOneRequest(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	s, object := otherStore(t, query, quick)
	if err := s.Put(t.Context(), object, noise(3*testPart), false); err != nil {
		t.Fatal(err)
	}
	if asked := f.Asked(); len(asked) != 1 {
		t.Errorf("found %q, expected one request", asked)
	}
}

// TestSmallThroughFaults has temporary faults, some of which hide a success.
func TestSmallThroughFaults(t *testing.T) {
	t.Parallel()
	for request, match := range map[string]func(*http.Request) bool{
		"put":    func(r *http.Request) bool { return r.Method == http.MethodPut },
		"look":   func(r *http.Request) bool { return r.Method == http.MethodHead },
		"get":    func(r *http.Request) bool { return r.Method == http.MethodGet },
		"remove": func(r *http.Request) bool { return r.Method == http.MethodDelete },
	} {
		for _, fault := range []proxy.Fault{proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall, proxy.Lost, proxy.LostError, proxy.LostStall} {
			for _, overwrite := range []bool{false, true} {
				if patience(fault) == stalling && (overwrite || request != "put") {
					continue // it would take long
				}
				t.Run(request+"/"+fault.String()+map[bool]string{true: "/overwriting"}[overwrite], func(t *testing.T) {
					t.Parallel()
					f, p, query := serve(t, once(fault, 2, match))
					o := patience(fault)
					if request == "put" && o.Stall < time.Minute {
						o.Stall /= stallFactor
					}
					s, object := otherStore(t, query, o)
					if overwrite {
						f.Put("x", []byte("old"))
					}
					data := noise(1000)
					if err := s.Put(t.Context(), object, data, overwrite); err != nil {
						t.Fatal(err)
					}
					for range 2 { // as there are two faults
						if got, err := s.Get(t.Context(), object, 1000); err != nil || !bytes.Equal(got, data) {
							t.Errorf("found %d bytes, %v", len(got), err)
						}
					}
					for range 2 {
						if err := s.Remove(t.Context(), object); err != nil {
							t.Error(err)
						}
					}
					if _, ok := f.Get("x"); ok {
						t.Error("it was not removed")
					}
					if p.Done()[fault] == 0 {
						t.Error("there was no fault: the test is broken")
					}
				})
			}
		}
	}
}

// TestPutLostAndTaken loses the answer while another process makes the object.
func TestPutLostAndTaken(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, once(proxy.Error500, 1, func(r *http.Request) bool { return r.Method == http.MethodPut }))
	f.Put("x", []byte("theirs"))
	s, object := otherStore(t, query, quick)
	if err := s.Put(t.Context(), object, []byte("mine  "), false); !errors.Is(err, fault.Exists) {
		t.Errorf("found %v, expected fault.Exists", err)
	}
	if got, _ := f.Get("x"); string(got) != "theirs" {
		t.Errorf("found %q", got)
	}
}

func TestPutWithoutBucket(t *testing.T) {
	t.Parallel()
	_, _, query := serve(t, nil)
	s := &Store{Options: quick}
	name, err := s.ParseArg("s3://none/x" + query)
	if err != nil {
		t.Fatal(err)
	}
	r := PendingUpload{Upload: "id", Bytes: 1, CRC32: "AAAAAA==", Parts: []Part{{ETag: "e", Bytes: 1}}}
	for _, err := range []error{s.Put(t.Context(), name, nil, false), s.Publish(t.Context(), name, r), s.Sweep(t.Context(), name, nil)} {
		if !errors.Is(err, fault.Refused) || errors.Is(err, fault.NotFound) {
			t.Errorf("found %v, expected fault.Refused", err)
		}
	}
}

// TestGetAReplacedObject replaces the object after it was looked up: Get reads the new one.
func TestGetAReplacedObject(t *testing.T) {
	t.Parallel()
	replaced := false
	var put func(string, []byte)
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if r.Method == http.MethodGet && !replaced {
			replaced = true
			put("x", []byte("the new one"))
		}
		return proxy.None
	})
	put = f.Put
	f.Put("x", []byte("old"))
	s, object := otherStore(t, query, quick)
	if got, err := s.Get(t.Context(), object, 100); err != nil || string(got) != "the new one" {
		t.Errorf("found %q, %v", got, err)
	}
}

// TestSmallObjectsInterrupted cancels the context at each request: the error is its cause.
func TestSmallObjectsInterrupted(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	for name, do := range map[string]func(ctx context.Context, s *Store) error{
		"get":     func(ctx context.Context, s *Store) error { _, err := s.Get(ctx, "s3://bkt/x", 10); return err },
		"put":     func(ctx context.Context, s *Store) error { return s.Put(ctx, "s3://bkt/x", []byte("new"), true) },
		"remove":  func(ctx context.Context, s *Store) error { return s.Remove(ctx, "s3://bkt/x") },
		"readdir": func(ctx context.Context, s *Store) error { _, err := s.ReadDir(ctx, "s3://bkt/"); return err },
	} {
		for at := 1; ; at++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			var seen atomic.Int64
			f, _, query := serve(t, func(*http.Request) proxy.Fault {
				if seen.Add(1) == int64(at) {
					cancel(cause)
					return proxy.Stall
				}
				return proxy.None
			})
			f.Put("x", []byte("old"))
			s, _ := otherStore(t, query, quick)
			err := do(ctx, s)
			cancel(nil)
			if seen.Load() < int64(at) {
				if at == 1 || err != nil {
					t.Errorf("%s: found %v after %d requests", name, err, seen.Load())
				}
				break
			}
			if !errors.Is(err, cause) || errors.Is(err, fault.IO) {
				t.Errorf("%s, ended at request %d: found %v, expected %v", name, at, err, cause)
			}
		}
	}
}
