//go:build !lean

package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/object/fake"
	"github.com/idxport/idxport/test/object/proxy"
)

// stagedRequests match the requests that stage an object, publish it, look for it, and abort or
// sweep it.
var stagedRequests = map[string]func(*http.Request) bool{
	"begin":    uploadRequests["begin"],
	"part":     uploadRequests["part"],
	"complete": func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") },
	"look":     func(r *http.Request) bool { return r.Method == http.MethodHead && r.URL.Path == "/bkt/x" },
	"parts":    func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Query().Has("uploadId") },
	"uploads":  func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Query().Has("uploads") },
	"abort":    func(r *http.Request) bool { return r.Method == http.MethodDelete },
}

// TestStagedThroughFaults has temporary faults, some of which hide a success, in every request of a
// staged object.
func TestStagedThroughFaults(t *testing.T) {
	t.Parallel()
	for request, match := range stagedRequests {
		for _, fault := range []proxy.Fault{proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall, proxy.Lost, proxy.LostError, proxy.LostStall} {
			if patience(fault) == stalling && request != "complete" && request != "abort" {
				continue // it would take long
			}
			t.Run(request+"/"+fault.String(), func(t *testing.T) {
				t.Parallel()
				f, p, query := serve(t, once(fault, 2, match))
				o := patience(fault)
				if request == "complete" && o.Stall < time.Minute {
					o.Stall /= stallFactor
				}
				stageAll(t, f, query, o)
				if n := p.Done()[fault]; n != 2 {
					t.Errorf("%d faults, expected 2: the test is broken", n)
				}
			})
		}
	}
}

// stageAll stages three objects with one key, which needs requests of every kind: one object is
// published twice, one is aborted, and one is swept.
func stageAll(t *testing.T, f *fake.Server, query string, o Options) {
	t.Helper()
	s, object := otherStore(t, query, o)
	send := func(data []byte) (r PendingUpload) {
		w, err := s.Create(t.Context(), object, true)
		if err == nil {
			err = write(w, data)
		}
		if err == nil {
			r, err = w.Stage()
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	data := noise(2*testPart + 1)
	r := send(data)
	for _, f := range []func(context.Context, string, PendingUpload) error{s.Check, s.Publish, s.Publish, s.Check} {
		if err := f(t.Context(), object, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Abort(t.Context(), object, send(noise(1))); err != nil {
		t.Fatal(err)
	}
	send(noise(testPart))
	if err := s.Sweep(t.Context(), "s3://bkt/x", nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := f.Get("x"); !bytes.Equal(got, data) || f.Left() != 0 {
		t.Errorf("found %d bytes and %d uploads, expected %d and none", len(got), f.Left(), len(data))
	}
}

// TestPublisherIsKilled before, during or after its only request. The next call of Publish
// finishes.
func TestPublisherIsKilled(t *testing.T) {
	t.Parallel()
	for _, fault := range []proxy.Fault{proxy.Stall, proxy.LostStall} {
		ctx, cancel := context.WithCancelCause(t.Context())
		killed := errors.New("killed")
		first := true
		f, _, query := serve(t, func(r *http.Request) proxy.Fault {
			if !stagedRequests["complete"](r) || !first {
				return proxy.None
			}
			first = false
			time.AfterFunc(50*time.Millisecond, func() { cancel(killed) })
			return fault
		})
		data := noise(testPart + 1)
		r := stage(t, query, data)
		s, object := otherStore(t, query, quick)
		if err := s.Publish(ctx, object, r); !errors.Is(err, killed) {
			t.Errorf("%v: found %v, expected the cause", fault, err)
		}
		s, object = otherStore(t, query, quick)
		if err := errors.Join(s.Check(t.Context(), object, r), s.Publish(t.Context(), object, r)); err != nil {
			t.Errorf("%v: %v", fault, err)
		}
		if got, _ := f.Get("x"); !bytes.Equal(got, data) || f.Left() != 0 {
			t.Errorf("%v: found %d bytes and %d uploads", fault, len(got), f.Left())
		}
	}
}

// TestAlmostPublished has another process publish the object while the server has, for a moment,
// neither the upload nor the object.
func TestAlmostPublished(t *testing.T) {
	t.Parallel()
	var f *fake.Server
	data := noise(testPart + 1)
	looks := 0
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if stagedRequests["look"](r) {
			if looks++; looks == 3 { // the first is right after the request failed
				f.Put("x", data)
			}
		}
		return proxy.None
	})
	r := stage(t, query, data)
	f.Abort()
	s, object := otherStore(t, query, quick)
	if err := s.Publish(t.Context(), object, r); err != nil || looks != 3 {
		t.Errorf("%v, after %d looks", err, looks)
	}
}

// TestConflict has status 409, with which S3 answers during another request for the key.
func TestConflict(t *testing.T) {
	t.Parallel()
	for name, size := range stagedSizes {
		f, _, query := serve(t, nil)
		data := noise(size)
		r := stage(t, query, data)
		s, object := otherStore(t, query, quick)
		f.Conflicts(2)
		if err := s.Publish(t.Context(), object, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, ok := f.Get("x"); !ok || !bytes.Equal(got, data) {
			t.Errorf("%s: found %d bytes", name, len(got))
		}
	}
}

// stageSome stages ten bytes.
func stageSome(t *testing.T, s *Store, name string) {
	t.Helper()
	w, err := s.Create(t.Context(), name, false)
	if err == nil {
		err = write(w, noise(10))
	}
	if err == nil {
		_, err = w.Stage()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweepEndsOnlyWhatIsBelow(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	f.Page = 2
	s, _ := otherStore(t, query, quick)
	below := []string{"out/train/a", "out/train/a", "out/train/a", "out/train/b/c", "out/train/d"}
	beside := []string{"elsewhere", "out/trai", "out/train", "out/training/a"}
	for _, key := range slices.Concat(below, beside) {
		stageSome(t, s, "s3://bkt/"+key)
	}
	for _, step := range []struct {
		prefix string
		left   []string
	}{
		{"s3://bkt/none/", slices.Sorted(slices.Values(slices.Concat(below, beside)))},
		{"s3://bkt/out/train/", beside},
		{"s3://bkt/out/train/", beside},
		{"s3://bkt/out/train", beside[:2]},
		{"s3://bkt/", nil},
	} {
		if err := s.Sweep(t.Context(), step.prefix, nil); err != nil {
			t.Error(err)
		}
		if left := f.Uploads(); !slices.Equal(left, step.left) {
			t.Errorf("%s: found %v, expected %v", step.prefix, left, step.left)
		}
	}
	for _, key := range []string{"a", "a/x", "b", "c", "d", "d", "d", "e"} {
		stageSome(t, s, "s3://bkt/"+key)
	}
	if err := s.Sweep(t.Context(), "s3://bkt/", func(name string) bool { return name == "s3://bkt/d" || name == "s3://bkt/a" }); err != nil {
		t.Error(err)
	}
	if left := f.Uploads(); !slices.Equal(left, []string{"a/x", "b", "c", "e"}) {
		t.Errorf("of a and d: found %v left", left)
	}
}

func TestStagedErrorsShowNoRequest(t *testing.T) {
	t.Parallel()
	_, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if r.Method == http.MethodHead {
			return proxy.None
		}
		return proxy.Denied403
	})
	s, object := otherStore(t, query, quick)
	r := PendingUpload{Upload: "id", Bytes: 1, CRC32: "AAAAAA==", Parts: []Part{{ETag: "e", Bytes: 1}}}
	_, getErr := s.Get(t.Context(), "s3://bkt/y", 1)
	for name, err := range map[string]error{
		"Publish": s.Publish(t.Context(), object, r), "Check": s.Check(t.Context(), object, r), "Abort": s.Abort(t.Context(), object, r),
		"Sweep": s.Sweep(t.Context(), "s3://bkt/", nil), "Put": s.Put(t.Context(), object, nil, true), "Remove": s.Remove(t.Context(), object),
	} {
		var e *fault.Error
		if !errors.As(err, &e) || !errors.Is(err, fault.Permission) || !strings.HasPrefix(err.Error(), "s3://bkt/") {
			t.Errorf("%s: found %v, expected fault.Permission with the URL", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "ignature") || strings.Contains(err.Error(), "?")) {
			t.Errorf("%s shows a request: %v", name, err)
		}
	}
	if !errors.Is(getErr, fault.NotFound) {
		t.Errorf("Get: %v", getErr)
	}
}

// TestListsWithoutEnd has a server that returns the same page again and again and says that there
// are more.
func TestListsWithoutEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case q.Has("uploads"):
			fmt.Fprint(w, `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>`,
				`<Upload><Key>x</Key><UploadId>gone</UploadId></Upload></ListMultipartUploadsResult>`)
		case q.Get("uploadId") == "gone":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchUpload</Code></Error>`)
		default:
			fmt.Fprint(w, `<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker></ListPartsResult>`)
		}
	}))
	t.Cleanup(server.Close)
	s, object := otherStore(t, "?anonymous=true&use_path_style=true&endpoint="+url.QueryEscape(server.URL), quick)
	r := PendingUpload{Upload: "id", Bytes: 1, CRC32: "AAAAAA==", Parts: []Part{{ETag: "e", Bytes: 1}}}
	for name, err := range map[string]error{"Check": s.Check(t.Context(), object, r), "Sweep": s.Sweep(t.Context(), "s3://bkt/", nil)} {
		if !errors.Is(err, fault.IO) || errors.Is(err, ErrNoUpload) || !strings.Contains(err.Error(), "the same page") {
			t.Errorf("%s: found %v, expected that the same page is listed again", name, err)
		}
	}
}
