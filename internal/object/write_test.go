package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/object/fake"
	"github.com/idxport/idxport/test/object/proxy"
)

// create starts the object s3://bkt/x of the store.
func create(t *testing.T, s *Store, query string, overwrite bool) *Writer {
	t.Helper()
	w := must.Get(s.Create(t.Context(), must.Get(s.ParseArg("s3://bkt/x"+query))(t), overwrite))(t)
	t.Cleanup(w.Discard)
	return w
}

// write writes data in pieces of odd sizes.
func write(w *Writer, data []byte) error {
	for n := 1; len(data) > 0; n = n*3%1000003 + 1 {
		part := data[:min(n, len(data))]
		if written, err := w.Write(part); err != nil || written != len(part) {
			return errors.Join(err, fmt.Errorf("%d of %d bytes were written", written, len(part)))
		}
		data = data[len(part):]
	}
	return nil
}

// publish writes data and commits it.
func publish(w *Writer, data []byte) error { return errors.Join(write(w, data), w.Commit()) }

// checkStored demands that the key x holds want, or nothing if that is nil, and that no upload is
// left.
func checkStored(t *testing.T, f *fake.Server, want []byte) {
	t.Helper()
	if got, ok := f.Get("x"); ok != (want != nil) || !bytes.Equal(got, want) || f.Left() != 0 {
		t.Errorf("found %d bytes, visible %v, and %d uploads, expected %d, %v, and none", len(got), ok, f.Left(),
			len(want), want != nil)
	}
}

// sizes are no bytes, less than a part, one part, and three parts and a rest, in bytes.
var sizes = map[string]int{"empty": 0, "small": 10 << 10, "one part": testPart, "parts": 3*testPart + 17}

func TestNothingIsSeenBeforeCommit(t *testing.T) {
	t.Parallel()
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, query := serve(t, nil)
			data := noise(size)
			w := create(t, &Store{Options: quick}, query, false)
			must.Do(t, write(w, data))
			must.Do(t, w.Complete())
			if _, ok := f.Get("x"); ok || name == "parts" && len(f.Asked()) != 3+4 {
				t.Errorf("it is visible before Commit, or has other parts than 4, all but the last full: %v", f.Asked())
			}
			must.Do(t, w.Commit())
			w.Discard()
			checkStored(t, f, data)
		})
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		for _, completed := range []bool{false, true} {
			isAbort := func(r *http.Request) bool { return r.Method == http.MethodDelete }
			f, _, query := serve(t, once(proxy.Error500, 2, isAbort))
			w := create(t, &Store{Options: quick}, query, false)
			must.Do(t, write(w, noise(size)))
			if completed {
				must.Do(t, w.Complete())
			}
			w.Discard()
			w.Discard()
			checkStored(t, f, nil)
			if _, err := w.Write([]byte("x")); err == nil || w.Commit() == nil {
				t.Error("Write or Commit after Discard succeeded")
			}
		}
	}
}

func TestExisting(t *testing.T) {
	t.Parallel()
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, query := serve(t, nil)
			s := &Store{Options: quick}
			data := noise(size)
			w := create(t, s, query, false)
			must.Do(t, write(w, data))
			other := []byte("of another run, meanwhile")
			f.Put("x", other)
			refuses(t, "Commit", w.Commit(), fault.Exists, "s3://bkt/x: already exists", "--overwrite")
			w.Discard()
			checkStored(t, f, other)
			_, err := s.Create(t.Context(), "s3://bkt/x", false)
			refuses(t, "Create", err, fault.Exists, "s3://bkt/x: already exists", "--overwrite")
			must.Do(t, publish(create(t, s, query, true), data))
			checkStored(t, f, data)
		})
	}
}

// uploadRequests match the requests of an upload.
var uploadRequests = map[string]func(*http.Request) bool{
	"begin": func(r *http.Request) bool { return r.URL.Query().Has("uploads") },
	"part":  func(r *http.Request) bool { return r.URL.Query().Has("partNumber") },
	"last": func(r *http.Request) bool {
		q := r.URL.Query()
		return r.Method == http.MethodPost && q.Has("uploadId") || r.Method == http.MethodPut && !q.Has("partNumber")
	},
}

// TestWriteThroughFaults has temporary faults, some of which hide a success.
func TestWriteThroughFaults(t *testing.T) {
	t.Parallel()
	for request, match := range uploadRequests {
		for _, fault := range []proxy.Fault{
			proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall, proxy.Lost, proxy.LostError, proxy.LostStall,
		} {
			for name, size := range sizes {
				for _, overwrite := range []bool{false, true} {
					if patience(fault).Stall == stalling.Stall && (overwrite || name != "small" && name != "parts") {
						continue // it would take long
					}
					t.Run(fmt.Sprint(request, "/", fault, "/", name, "/", overwrite), func(t *testing.T) {
						t.Parallel()
						f, _, query := serve(t, once(fault, 2, match))
						if overwrite {
							f.Put("x", []byte("old"))
						}
						o := patience(fault)
						if request == "last" && name == "parts" && o.Stall < time.Minute {
							o.Stall /= stallFactor
						}
						data := noise(size)
						must.Do(t, publish(create(t, &Store{Options: o}, query, overwrite), data))
						if got, _ := f.Get("x"); !bytes.Equal(got, data) {
							t.Errorf("found %d bytes, expected %d", len(got), size)
						}
						// Of a lost first answer an upload without parts remains.
						if left := f.Left(); left != 0 && request != "begin" {
							t.Errorf("%d uploads are left", left)
						}
					})
				}
			}
		}
	}
}

// TestWriteGivesUp has permanent faults: the old object stays, and no parts are left.
func TestWriteGivesUp(t *testing.T) {
	t.Parallel()
	for request, match := range uploadRequests {
		for broken, want := range map[proxy.Fault]error{
			proxy.Error500: fault.IO, proxy.Reset: fault.IO, proxy.Denied403: fault.Permission,
		} {
			f, p, query := serve(t, once(broken, 1<<40, match))
			f.Put("x", []byte("old"))
			w := create(t, &Store{Options: quick}, query, true)
			err := publish(w, noise(3*testPart+17))
			w.Discard()
			refuses(t, fmt.Sprint(request, " ", broken), err, want, "", "")
			if checkStored(t, f, []byte("old")); p.Done()[broken] == 0 {
				t.Errorf("%s, %v: there was no fault: the test is broken", request, broken)
			}
		}
	}
}

// TestLostAndTaken loses the answer to the last request while another process makes the object.
func TestLostAndTaken(t *testing.T) {
	t.Parallel()
	var f *fake.Server
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if uploadRequests["last"](r) {
			f.Put("x", []byte("of another run"))
			return proxy.LostError
		}
		return proxy.None
	})
	w := create(t, &Store{Options: quick}, query, false)
	if err := publish(w, noise(testPart+1)); err == nil {
		t.Error("Commit succeeded, but the object is another one")
	}
	w.Discard()
	checkStored(t, f, []byte("of another run"))
}

// TestConflict has a server that makes another object at the key meanwhile.
func TestConflict(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	f.Conflicts(1)
	w := create(t, &Store{Options: quick}, query, false)
	refuses(t, "publish", publish(w, noise(testPart+1)), fault.Locked, "", "")
	w.Discard()
	checkStored(t, f, nil)
}

// TestCanceledWhileSending cancels the context: a waiting Write fails with its cause, and Discard
// still removes the parts.
func TestCanceledWhileSending(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if r.URL.Query().Get("partNumber") == "3" {
			cancel(cause)
			return proxy.Stall
		}
		return proxy.None
	})
	s := &Store{Options: Options{Attempts: 3, Stall: time.Minute, partSize: testPart}}
	name := must.Get(s.ParseArg("s3://bkt/x" + query))(t)
	w := must.Get(s.Create(ctx, name, false))(t)
	refuses(t, "publish", publish(w, noise(9*testPart)), cause, "", "")
	w.Discard()
	checkStored(t, f, nil)
}
