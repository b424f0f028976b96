//go:build !lean

package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/object/proxy"
)

// quick are options for tests without stalls, with small parts.
var quick = Options{Attempts: 4, Stall: time.Minute, partSize: testPart}

// testPart is the size of parts in tests, in bytes.
const testPart = 64 << 10

// stalling are options for tests with stalls: short ones, and many attempts, because a busy
// machine stalls, too.
var stalling = Options{Attempts: 50, Stall: 500 * time.Millisecond, partSize: testPart}

// patience returns the options for tests with a fault.
func patience(fault proxy.Fault) Options {
	if fault == proxy.Stall || fault == proxy.LostStall || fault == proxy.StallBody {
		return stalling
	}
	return quick
}

// noise returns random bytes, the same in every call.
func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

// open opens a URL that may have a query.
func open(t *testing.T, s *Store, arg string) (*Reader, error) {
	t.Helper()
	name, err := s.ParseArg(arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), name)
	if err == nil {
		t.Cleanup(func() { _ = r.Close() })
	}
	return r, err
}

// once returns the fault for the first n requests that match.
func once(fault proxy.Fault, n int64, match func(*http.Request) bool) func(*http.Request) proxy.Fault {
	var seen atomic.Int64
	return func(r *http.Request) proxy.Fault {
		if match(r) && seen.Add(1) <= n {
			return fault
		}
		return proxy.None
	}
}

func isGet(r *http.Request) bool {
	return r.Method == http.MethodGet && !r.URL.Query().Has("list-type")
}

// TestReadThroughFaults reads an object, a file on a web server, and one from a server that sends
// only whole files, through faults that pass.
func TestReadThroughFaults(t *testing.T) {
	t.Parallel()
	data := noise(11<<20 + 12345)
	for _, from := range []string{"object", "web", "whole"} {
		for _, fault := range []proxy.Fault{proxy.None, proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall, proxy.Lost,
			proxy.Short, proxy.StallBody, proxy.WrongRange} {
			t.Run(from+" "+fault.String(), func(t *testing.T) {
				t.Parallel()
				f, p, query := serve(t, once(fault, 3, isGet))
				f.Put("x", data)
				name, s := "s3://bkt/x"+query, &Store{Options: patience(fault)}
				if server := serveFile(data); from != "object" {
					if from == "whole" {
						server = wholly(server)
					}
					p.Target = mustParse(webServer(t, server))
					name = webServer(t, p) + "/x?sig=" + secret
				}
				r, err := open(t, s, name)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(got, data) || r.Size() != int64(len(data)) {
					t.Fatalf("found %d bytes, %v, expected %d", len(got), err, len(data))
				}
				if n := p.Done()[fault]; n < 1 || n < 3 && from == "object" && fault != proxy.None {
					t.Errorf("%d faults: the test is broken", n)
				}
				if fault == proxy.None && p.Sent() > int64(len(data))+1 {
					t.Errorf("the server sent %d bytes, expected each once, %d", p.Sent(), len(data))
				}
			})
		}
	}
}

// TestShortBodiesResume pins that received bytes are kept: each request returns half of the rest,
// and there are more requests than Options.Attempts.
func TestShortBodiesResume(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if isGet(r) {
			return proxy.Short
		}
		return proxy.None
	})
	data := noise(10000)
	f.Put("x", data)
	r, err := open(t, &Store{Options: quick}, "s3://bkt/x"+query)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 9999)
	if _, err := r.ReadAt(got, 0); err == nil { // half of the last byte is nothing
		t.Fatal("read a body that is never complete")
	}
	// 10000, 5000, 2500, …, 1: 14 requests before the last byte, for which attempts are counted.
	if n := len(f.Asked()); n < 14+quick.Attempts-1 {
		t.Errorf("%d requests, expected each to ask for what is left: %v", n, f.Asked())
	}
}

func TestReadGivesUp(t *testing.T) {
	t.Parallel()
	always := func(fault proxy.Fault) func(*http.Request) proxy.Fault {
		return once(fault, 1<<40, isGet)
	}
	cases := []struct {
		name  string
		fault proxy.Fault
		want  error
	}{
		{"errors of the server", proxy.Error500, fault.IO},
		{"resets", proxy.Reset, fault.IO},
		{"stalls", proxy.Stall, fault.IO},
		{"denied", proxy.Denied403, fault.Permission},
		{"another version, found by the server", proxy.Refused412, fault.Changed},
		{"another version, found by the ETag", proxy.WrongETag, fault.Changed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, _, query := serve(t, always(c.fault))
			f.Put("x", noise(1000))
			o := patience(c.fault)
			o.Attempts = 4
			r, err := open(t, &Store{Options: o}, "s3://bkt/x"+query)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.ReadAll(r); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "s3://bkt/x: ") {
				t.Errorf("found %v, expected %v", err, c.want)
			}
		})
	}
}

func TestChangedWhileRead(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		f, _, query := serve(t, nil)
		f.Put("x", noise(1<<20))
		r, err := open(t, &Store{Options: quick}, "s3://bkt/x"+query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		f.Put("x", bytes.Repeat([]byte{7}, 1<<20))
		if gone {
			f.Remove("x")
		}
		if _, err := io.ReadAll(r); !errors.Is(err, fault.Changed) {
			t.Errorf("gone %v: found %v, expected fault.Changed", gone, err)
		}
	}
}

// TestRangesReadOnlyTheirBytes reads the start and a range, as --rows does.
func TestRangesReadOnlyTheirBytes(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	data := noise(40 << 20)
	f.Put("x", data)
	r, err := open(t, &Store{Options: quick}, "s3://bkt/x"+query)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	const from, to = 10<<20 + 17, 33<<20 + 5
	r.Limit(to)
	if _, err := r.Seek(from, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, to-from)
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, data[from:to]) {
		t.Fatalf("%v, or other bytes", err)
	}
	if most := int64(headSize + to - from); f.Sent() > most {
		t.Errorf("the server sent %d bytes, expected at most %d", f.Sent(), most)
	}
	if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(rest, data[to:]) { // Limit does not end the object
		t.Errorf("after the limit: %v, %d bytes, expected %d", err, len(rest), len(data)-to)
	}
}

func TestReaderIsAnyReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, headSize, headSize + 3000} {
		f, _, query := serve(t, nil)
		data := noise(size)
		f.Put("x", data)
		r, err := open(t, &Store{Options: quick}, "s3://bkt/x"+query)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(r, data); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestCloseEndsReads waits for a server in a read, which Close and the end of the context cancel,
// the latter with its cause.
func TestCloseEndsReads(t *testing.T) {
	t.Parallel()
	patient := Options{Attempts: 2, Stall: time.Hour}
	waiting := make(chan struct{}, 10)
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if isGet(r) {
			waiting <- struct{}{}
			return proxy.Stall
		}
		return proxy.None
	})
	f.Put("x", noise(5<<20))
	s := &Store{Options: patient}
	name, err := s.ParseArg("s3://bkt/x" + query)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("interrupted")
	for _, end := range []string{"close", "cancel"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, err := s.Open(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Seek(1<<20, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			_, err := r.Read(make([]byte, 10))
			failed <- err
		}()
		<-waiting
		if end == "close" {
			_ = r.Close()
		} else {
			cancel(cause)
		}
		if err := <-failed; err == nil || end == "cancel" && !errors.Is(err, cause) {
			t.Errorf("%s: %v", end, err)
		}
		cancel(nil)
		_ = r.Close()
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, once(proxy.Error500, 2, func(r *http.Request) bool { return r.URL.Query().Has("list-type") }))
	for _, key := range []string{"mnist/train-labels", "mnist/train-images", "mnist/deep/x", "mnist/", "other"} {
		f.Put(key, []byte(key))
	}
	s := &Store{Options: quick}
	name, err := s.ParseArg("s3://bkt/mnist/" + query)
	if err != nil || name != "s3://bkt/mnist/" {
		t.Fatal(name, err)
	}
	for _, folder := range []string{name, "s3://bkt/mnist"} {
		entries, err := s.ReadDir(t.Context(), folder, 0)
		var names []string
		for _, e := range entries {
			n := e.Name()
			if e.IsDir() {
				n += "/"
			}
			names = append(names, n)
		}
		if err != nil || strings.Join(names, " ") != "deep/ train-images train-labels" {
			t.Errorf("%s: %v, %v", folder, names, err)
		}
		if info, err := s.Stat(t.Context(), folder); err != nil || !info.IsDir() || info.Name() != "mnist" {
			t.Errorf("%s: %v, %v", folder, info, err)
		}
	}
	if info, err := s.Stat(t.Context(), "s3://bkt/other"); err != nil || info.IsDir() || info.Size() != 5 || !info.Mode().IsRegular() {
		t.Errorf("an object: %v, %v", info, err)
	}
	for _, none := range []string{"s3://bkt/none", "s3://bkt/none/"} {
		if _, err := s.Stat(t.Context(), none); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", none, err)
		}
	}
}

// TestEndlessLists has servers whose lists have no end: in pages, in one page, and without
// entries.
func TestEndlessLists(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]func(w io.Writer){
		"pages": func(w io.Writer) {
			_, _ = io.WriteString(w, strings.Repeat("<Contents><Key>x/y</Key></Contents>", 1000))
		},
		"nothing": func(io.Writer) {},
		"one page": func(w io.Writer) {
			for range 20 << 10 {
				if _, err := io.WriteString(w, strings.Repeat("<Contents><Key>x/y</Key></Contents>", 30)); err != nil {
					return
				}
			}
		},
		"long keys": func(w io.Writer) {
			fmt.Fprintf(w, "<Contents><Key>x/%s</Key></Contents>", strings.Repeat("y", 1<<20))
		},
	} {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = io.WriteString(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>")
			page(w)
			_, _ = io.WriteString(w, "</ListBucketResult>")
		}))
		s := &Store{Options: quick}
		folder, err := s.ParseArg("s3://bkt/x/?anonymous=true&use_path_style=true&endpoint=" + url.QueryEscape(server.URL))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadDir(t.Context(), folder, 0); !errors.Is(err, fault.IO) || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: found %v", name, err)
		}
		if asked.Load() > maxPages+10 {
			t.Errorf("%s: found %d requests", name, asked.Load())
		}
		if entries, err := s.ReadDir(t.Context(), folder, 5); name == "pages" && (err != nil || len(entries) != 5) {
			t.Errorf("the first 5: found %d, %v", len(entries), err)
		}
		server.Close()
	}
}
