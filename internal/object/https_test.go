package object

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// changed is when the files of serveFile were changed.
var changed = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// serveFile answers with data as files are served: with ranges and conditions.
func serveFile(data []byte) http.HandlerFunc { return serveVersion(`"v1"`, changed, data) }

// serveVersion is serveFile with an ETag, unless that is empty, and a time.
func serveVersion(etag string, when time.Time, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		if match, ok := r.Header["If-Match"]; ok && match[0] == "" { // no version has this ETag
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		http.ServeContent(w, r, "", when, bytes.NewReader(data))
	}
}

// asked lets next serve a range of every file, all of it if this is empty.
func asked(byteRange string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Range", byteRange)
		next(w, r)
	}
}

// webServer returns the URL of a server.
func webServer(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// TestWebRequests: a range is read without the rest of the file, the query and the escapes are
// those of the argument, and nothing asks for compression.
func TestWebRequests(t *testing.T) {
	t.Parallel()
	data := noise(4 << 20)
	var asked []string
	address := webServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get
		asked = append(asked, strings.Join([]string{r.Method, r.RequestURI, got("Accept-Encoding"), got("Range"),
			got("If-Match")}, " "))
		serveFile(data)(w, r)
	}))
	s := &Store{Options: quick}
	const path = "/a%2Fb/train%2Dimages.gz"
	r := must.Get(open(t, s, address+path+"?b=2&a=%20&sig=x%3D#top"))(t)
	for _, c := range [][2]int{{2<<20 + 5, blockSize}, {3 << 20, 9}, {1 << 20, 9}} {
		at, size, got := c[0], c[1], make([]byte, c[1])
		if n, err := r.ReadAt(got, int64(at)); err != nil || n != size || !bytes.Equal(got, data[at:][:size]) {
			t.Errorf("found %d bytes at %d, %v", n, at, err)
		}
	}
	must.Get(s.Open(t.Context(), address+path))(t)
	info := must.Get(s.Stat(t.Context(), address+path))(t)
	if info.Size() != 4<<20 || !info.ModTime().Equal(changed) {
		t.Errorf("found %v", info)
	}
	const uri = "GET " + path + "?b=2&a=%20&sig=x%3D identity "
	want := []string{uri + "bytes=0-0 ", uri + `bytes=1048576-2097151 "v1"`, uri + `bytes=2097157-3145732 "v1"`,
		uri + `bytes=3145728-4194303 "v1"`}
	if slices.Sort(asked); fmt.Sprintf("%q", asked) != fmt.Sprintf("%q", want) {
		t.Errorf("found %q, expected %q", asked, want)
	}
}

// TestWebVersions changes the file after it was opened.
func TestWebVersions(t *testing.T) {
	t.Parallel()
	first, second := noise(2<<20), noise(2<<20)
	second[1<<20]++
	old := func(etag string) http.HandlerFunc { return serveVersion(etag, changed, first) }
	other := func(etag string) http.HandlerFunc { return serveVersion(etag, changed, second) }
	for name, c := range map[string]struct {
		before, after http.HandlerFunc
		etag          string
		is            error
	}{
		"the same": {old(`"a"`), old(`"a"`), `"a"`, nil},
		"another ETag, without conditions": {old(`"a"`), func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Match")
			other(`"b"`)(w, r)
		}, `"a"`, fault.Changed},
		"weak ETag, the same":   {old(`W/"a"`), old(`W/"a"`), "", nil},
		"weak ETag, another":    {old(`W/"a"`), other(`W/"b"`), "", fault.Changed},
		"no ETag, the same":     {old(""), old(""), "", nil},
		"no ETag, another time": {old(""), serveVersion("", changed.Add(time.Second), second), "", fault.Changed},
		"no ETag, another size": {old(""), serveVersion("", changed, first[:1<<20]), "", fault.Changed},
		"small, later whole":    {serveFile(first[:9]), asked("", serveFile(first[:9])), `"v1"`, nil},
		"small, later larger":   {serveFile(first[:9]), asked("", serveFile(first[:10])), `"v1"`, fault.Changed},
		"empty":                 {serveFile(nil), nil, `"v1"`, nil},
		"empty, without a range": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, nil, "", nil},
		"removed":                   {old(`"a"`), http.NotFound, `"a"`, fault.Changed},
		"ranges are not sent later": {old(`"a"`), asked("", old(`"a"`)), `"a"`, fault.IO},
		"wrong part":                {old(`"a"`), asked("bytes=0-99", old(`"a"`)), `"a"`, fault.IO},
		"small, wrong part": {serveFile(first[:9]), func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Range", strings.Replace(r.Header.Get("Range"), "=0-8", "=1-8", 1))
			serveFile(first[:9])(w, r)
		}, `"v1"`, fault.IO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var now atomic.Pointer[http.HandlerFunc]
			now.Store(&c.before)
			serveNow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*now.Load())(w, r) })
			r := must.Get(open(t, &Store{Options: quick}, webServer(t, serveNow)+"/x?sig="+secret))(t)
			now.Store(&c.after)
			got, err := io.ReadAll(r)
			_, end := r.ReadAt(make([]byte, 9), 1<<32) // in 32 bits this is 0
			wrong := end != io.EOF || err == nil && !bytes.Equal(got, first[:r.version.size])
			if wrong || r.ETag() != c.etag || !errors.Is(err, c.is) || strings.Contains(fmt.Sprint(err), secret) {
				t.Errorf("found %d bytes, %v, the ETag %s, expected %v and %s", len(got), err, r.ETag(), c.is, c.etag)
			}
		})
	}
}

// TestWebAnswers has answers to the first request other than a part of a file.
func TestWebAnswers(t *testing.T) {
	t.Parallel()
	data := noise(1<<20 + 1)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", "Basic realm="+secret)
			http.Error(w, "the URL "+r.URL.String()+" is "+secret, code)
		}
	}
	part := func(contentRange string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", contentRange)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(data[:1])
		}
	}
	refused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) }
	const neither = "the server does not send parts of files"
	for name, c := range map[string]struct {
		h          http.HandlerFunc
		is         error
		says, hint string
	}{
		"without ranges":   {asked("", serveFile(data)), fault.IO, neither, "curl"},
		"unknown total":    {part("bytes 0-0/*"), fault.IO, neither, "curl"},
		"another part":     {part("bytes 1-1/9"), fault.IO, neither, "curl"},
		"ranges refused":   {refused, fault.IO, neither, "curl"},
		"no file any more": {status(http.StatusGone), fault.NotFound, "not found", ""},
		"denied":           {status(http.StatusForbidden), fault.Permission, "access denied: status 403", "presigned"},
		"unavailable":      {status(http.StatusServiceUnavailable), fault.IO, "status 503", "run again"},
		"too many":         {status(http.StatusTooManyRequests), fault.IO, "status 429", "run again"},
		"a teapot":         {status(http.StatusTeapot), fault.IO, "transfer failed: status 418", "check the URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64 // requests
			counted := func(w http.ResponseWriter, r *http.Request) { n.Add(1); c.h(w, r) }
			server := webServer(t, http.HandlerFunc(counted))
			_, err := open(t, &Store{Options: quick}, server+"/x?sig="+secret)
			refuses(t, name, err, c.is, server+"/x: ", c.hint)
			if !strings.HasSuffix(err.Error(), c.says) || strings.Contains(fault.HintOf(err), "AWS") ||
				(n.Load() > 1) != (c.hint == "run again") {
				t.Errorf("found %v, hint %s, after %d requests", err, fault.HintOf(err), n.Load())
			}
		})
	}
}

// TestWebRedirects follows up to ten redirects, and other servers do not learn the query. (One from
// https to http is tested in cmd/idxport.)
func TestWebRedirects(t *testing.T) {
	t.Parallel()
	data := noise(2 << 20)
	chain := webServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := r.Header.Get("Referer"); text != "" {
			t.Errorf("the other server learned %s", text)
		}
		if shorter, ok := strings.CutPrefix(r.URL.Path, "/x"); ok {
			http.Redirect(w, r, shorter, http.StatusFound)
			return
		}
		serveFile(data)(w, r)
	}))
	to := func(url string) string { return webServer(t, http.RedirectHandler(url, http.StatusFound)) }
	for from, says := range map[string]string{
		chain + strings.Repeat("/x", 10): "",
		chain + strings.Repeat("/x", 11): "transfer failed: found more than 10 redirects",
		to("https://127.0.0.1:1/y"):      "refused", // followed
		to("file:///etc/passwd"):         "redirects to file://",
	} {
		r, err := open(t, &Store{Options: quick}, from+"/y?sig="+secret)
		if says != "" {
			refuses(t, from, err, fault.IO, says, "")
			continue
		}
		must.Do(t, err)
		checkRead(t, r, data)
	}
}

// TestRequestErrors has an error of each kind, by its hint.
func TestRequestErrors(t *testing.T) {
	t.Parallel()
	for hint, err := range map[string]error{
		"the host's name":     &net.DNSError{IsNotFound: true},
		"clock":               &tls.CertificateVerificationError{Err: io.EOF},
		"the network, or run": &net.DNSError{IsTimeout: true},
		"?endpoint=":          io.ErrShortBuffer,
	} {
		refuses(t, hint, requestError(t.Context(), err, "check the host's name"), fault.IO, "transfer failed", hint)
	}
}

// TestWebIsReadOnly: nothing is written or listed, and no request is made.
func TestWebIsReadOnly(t *testing.T) {
	t.Parallel()
	address := webServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("found the request %s %s", r.Method, r.URL)
	}))
	s := &Store{Options: quick}
	_, createErr := s.Create(t.Context(), address+"/x", true)
	_, listErr := s.ReadDir(t.Context(), address+"/x", 0)
	_, folderErr := s.ReadDir(t.Context(), address+"/", 0)
	for what, err := range map[string]error{"Create": createErr, "ReadDir": listErr, "of a folder": folderErr} {
		refuses(t, what, err, fault.Usage, "", "")
	}
}
