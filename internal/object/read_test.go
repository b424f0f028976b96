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
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/object/fake"
	"github.com/idxport/idxport/test/object/proxy"
)

// TestMain makes the pauses between attempts short: here and in minio-go.
func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 20*time.Millisecond
	maxPause = minio.DefaultRetryCap
	m.Run()
}

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

// serve starts a fake server behind a proxy. The string is the parameters of a URL for it.
func serve(t *testing.T, next func(*http.Request) proxy.Fault) (f *fake.Server, p *proxy.Proxy, query string) {
	t.Helper()
	f = fake.New()
	p = &proxy.Proxy{Target: must.Get(url.Parse(webServer(t, f)))(t), Next: next}
	return f, p, "?anonymous=true&use_path_style=true&endpoint=" + url.QueryEscape(webServer(t, p))
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
	name := must.Get(s.ParseArg(arg))(t)
	r, err := s.Open(t.Context(), name)
	if err == nil {
		t.Cleanup(func() { _ = r.Close() })
	}
	return r, err
}

// checkRead reads the rest of r, which must be want.
func checkRead(t *testing.T, r io.Reader, want []byte) {
	t.Helper()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("found %d bytes and %v, expected %d", len(got), err, len(want))
	}
}

// refuses fails the test unless err is want, its message and hint contain these texts, and neither
// shows the secret.
func refuses(t *testing.T, name string, err, want error, says, hint string) {
	t.Helper()
	text, advice := fmt.Sprint(err), fault.HintOf(err)
	shown := strings.Contains(text+advice, secret)
	if !errors.Is(err, want) || !strings.Contains(text, says) || !strings.Contains(advice, hint) || shown {
		t.Errorf("%s: found %s (%s), expected %v that says %q (%s)", name, text, advice, want, says, hint)
	}
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

// TestReadThroughFaults reads an object and a file on a web server through faults that pass.
func TestReadThroughFaults(t *testing.T) {
	t.Parallel()
	data := noise(11<<20 + 12345)
	for _, from := range []string{"object", "web"} {
		for _, fault := range []proxy.Fault{proxy.None, proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall,
			proxy.Lost, proxy.Short, proxy.StallBody, proxy.WrongRange} {
			if from == "web" && fault == proxy.WrongRange { // its first answer would say that it sends no parts
				continue
			}
			t.Run(from+" "+fault.String(), func(t *testing.T) {
				t.Parallel()
				f, p, query := serve(t, once(fault, 3, isGet))
				f.Put("x", data)
				name, s := "s3://bkt/x"+query, &Store{Options: patience(fault)}
				if from != "object" {
					p.Target = must.Get(url.Parse(webServer(t, serveFile(data))))(t)
					name = webServer(t, p) + "/x?sig=" + secret
				}
				r := must.Get(open(t, s, name))(t)
				if checkRead(t, r, data); r.version.size != int64(len(data)) {
					t.Errorf("found the size %d, expected %d", r.version.size, len(data))
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
	r := must.Get(open(t, &Store{Options: quick}, "s3://bkt/x"+query))(t)
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
	for broken, want := range map[proxy.Fault]error{
		proxy.Error500: fault.IO, proxy.Reset: fault.IO, proxy.Stall: fault.IO, proxy.Denied403: fault.Permission,
		proxy.WrongETag: fault.Changed, // TestChangedWhileRead has a version that the server finds changed
	} {
		t.Run(broken.String(), func(t *testing.T) {
			t.Parallel()
			f, _, query := serve(t, once(broken, 1<<40, isGet))
			f.Put("x", noise(1000))
			o := patience(broken)
			o.Attempts = 4
			r := must.Get(open(t, &Store{Options: o}, "s3://bkt/x"+query))(t)
			_, err := io.ReadAll(r)
			refuses(t, "read", err, want, "s3://bkt/x: ", "")
		})
	}
}

func TestChangedWhileRead(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		f, _, query := serve(t, nil)
		f.Put("x", noise(1<<20))
		r := must.Get(open(t, &Store{Options: quick}, "s3://bkt/x"+query))(t)
		must.Get(io.ReadFull(r, make([]byte, 100)))(t)
		f.Put("x", bytes.Repeat([]byte{7}, 1<<20))
		if gone {
			f.Remove("x")
		}
		_, err := io.ReadAll(r)
		refuses(t, fmt.Sprint("gone ", gone), err, fault.Changed, "", "")
	}
}

// TestRangesReadOnlyTheirBytes reads the start and a range, as --rows does.
func TestRangesReadOnlyTheirBytes(t *testing.T) {
	t.Parallel()
	f, _, query := serve(t, nil)
	data := noise(40 << 20)
	f.Put("x", data)
	r := must.Get(open(t, &Store{Options: quick}, "s3://bkt/x"+query))(t)
	must.Get(io.ReadFull(r, make([]byte, 16)))(t)
	const from, to = 10<<20 + 17, 33<<20 + 5
	r.Limit(to)
	must.Get(r.Seek(from, io.SeekStart))(t)
	got := make([]byte, to-from)
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, data[from:to]) {
		t.Fatalf("%v, or other bytes", err)
	}
	if most := int64(headSize + to - from); f.Sent() > most {
		t.Errorf("the server sent %d bytes, expected at most %d", f.Sent(), most)
	}
	checkRead(t, r, data[to:]) // Limit does not end the object
}

func TestReaderIsAnyReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, headSize, headSize + 3000} {
		f, _, query := serve(t, nil)
		data := noise(size)
		f.Put("x", data)
		r := must.Get(open(t, &Store{Options: quick}, "s3://bkt/x"+query))(t)
		if err := iotest.TestReader(r, data); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestCloseEndsReads waits for a server in a read, which Close and the end of the context cancel,
// the latter with its cause.
func TestCloseEndsReads(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{}, 10)
	f, _, query := serve(t, func(r *http.Request) proxy.Fault {
		if isGet(r) {
			waiting <- struct{}{}
			return proxy.Stall
		}
		return proxy.None
	})
	f.Put("x", noise(5<<20))
	s := &Store{Options: Options{Attempts: 2, Stall: time.Hour}}
	name := must.Get(s.ParseArg("s3://bkt/x" + query))(t)
	cause := errors.New("interrupted")
	for end, want := range map[string]error{"close": fs.ErrClosed, "cancel": cause} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := must.Get(s.Open(ctx, name))(t)
		must.Get(r.Seek(1<<20, io.SeekStart))(t)
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
		refuses(t, end, <-failed, want, "", "")
		cancel(nil)
		_ = r.Close()
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	isList := func(r *http.Request) bool { return r.URL.Query().Has("list-type") }
	f, _, query := serve(t, once(proxy.Error500, 2, isList))
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
	info := must.Get(s.Stat(t.Context(), "s3://bkt/other"))(t)
	if info.IsDir() || info.Size() != 5 || !info.Mode().IsRegular() {
		t.Errorf("an object: %v", info)
	}
	for _, none := range []string{"s3://bkt/none", "s3://bkt/none/"} {
		_, err := s.Stat(t.Context(), none)
		refuses(t, none, err, fs.ErrNotExist, "", "")
	}
}

// TestEndlessLists has servers whose lists have no end, and exceed each of the limits in turn.
func TestEndlessLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page     string
		requests int64
	}{
		"entries":   {strings.Repeat("<Contents><Key>x/y</Key></Contents>", 1000), maxEntries/1000 + 1},
		"pages":     {"", maxPages},
		"bytes":     {"<!--" + strings.Repeat("p", maxAnswer/2) + "-->", maxList / (maxAnswer / 2)},
		"one page":  {"<!--" + strings.Repeat("p", maxAnswer) + "-->", 1},
		"many tags": {strings.Repeat("<Contents/>", maxTags), 1},
	} {
		var asked atomic.Int64
		server := webServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = io.WriteString(w, "<ListBucketResult><IsTruncated>true</IsTruncated>"+
				"<NextContinuationToken>t</NextContinuationToken>"+c.page+"</ListBucketResult>")
		}))
		s := &Store{Options: quick}
		const bucket = "s3://bkt/x/?anonymous=true&use_path_style=true&endpoint="
		folder := must.Get(s.ParseArg(bucket + url.QueryEscape(server)))(t)
		_, err := s.ReadDir(t.Context(), folder, 0)
		refuses(t, name, err, fault.IO, "too long", "")
		if n := asked.Load(); n != c.requests {
			t.Errorf("%s: found %d requests, expected %d", name, n, c.requests)
		}
		if name != "entries" {
			continue
		}
		if entries, err := s.ReadDir(t.Context(), folder, 5); err != nil || len(entries) != 5 {
			t.Errorf("the first 5: found %d, %v", len(entries), err)
		}
	}
}
