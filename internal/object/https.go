//go:build !lean

package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/idxport/idxport/fault"
)

// Limits for the answers of web servers.
const (
	maxRedirects = 10
	maxETag      = 256 // bytes
)

// A webFile is a file on a web server. A run reads one version of it.
type webFile struct {
	url     string // with its query, which may be a secret
	options Options
	scratch func() (*os.File, error)
	client  *http.Client

	mu    sync.Mutex
	found *webVersion // set by the first head, and never changed
}

// A webVersion is a version of a file on a web server.
type webVersion struct {
	identity
	weak string   // the weak ETag and the time, if there is no strong ETag
	copy *os.File // the whole file, if the server does not send parts; the garbage collector closes it
}

// connectWeb returns a client for the file on a web server with the URL name.
func connectWeb(name, query string, o Options, scratch func() (*os.File, error)) (*client, error) {
	if query != "" {
		name += "?" + query
	}
	w := &webFile{url: name, options: o, scratch: scratch,
		client: &http.Client{Transport: guard{newTransport()}, CheckRedirect: checkRedirect}}
	return &client{Options: o, head: w.head, read: w.read}, nil
}

// checkRedirect refuses redirects from https to anything else.
func checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer") // it may contain a signature
	switch scheme := r.URL.Scheme; {
	case len(via) > maxRedirects:
		return failed(fault.IO, "found more than %d redirects", maxRedirects)
	case scheme != "https" && scheme != via[len(via)-1].URL.Scheme:
		return failed(fault.IO, "the server redirects to %s://, expected https://", scrub(scheme)).
			WithHint("others could change the file on its way; ask for a URL without this redirect")
	}
	return nil
}

// head returns the version of the file. Once it has succeeded, it sends no more requests.
func (w *webFile) head(ctx context.Context, _ string) (identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found != nil {
		return w.found.identity, nil
	}
	begin := time.Now()
	for n := 1; ; n++ {
		// Not every server and signature allows HEAD.
		v, err := w.version(ctx, "bytes=0-0")
		if errors.Is(err, fault.Changed) { // an empty file, or one whose length the server does not know
			v, err = w.version(ctx, "")
		}
		if err == nil {
			w.found = v
			return v.identity, nil
		}
		if err := w.options.pause(ctx, err, n, begin); err != nil {
			return identity{}, err
		}
	}
}

// version requests a range of the file, or all of it, to find out which version it has. If the
// server sends all of it, the webVersion has a copy. If the server refuses the range or does not
// send the length of the file, version fails with fault.Changed.
func (w *webFile) version(ctx context.Context, byteRange string) (v *webVersion, err error) {
	err = w.get(ctx, byteRange, func(answer *http.Response) error {
		v = new(webVersion)
		v.etag, v.weak = validators(answer.Header)
		v.modTime, _ = http.ParseTime(answer.Header.Get("Last-Modified"))
		if answer.StatusCode == http.StatusOK {
			return w.download(v, answer.Body)
		}
		var ok bool
		if v.size, ok = checkRange(answer, 0, 0); !ok {
			return failed(fault.Changed, "")
		}
		_, err := fill(answer.Body, make([]byte, 1)) // else the connection would be closed
		return err
	})
	return v, err
}

// download copies the body of an answer to a scratch file.
func (w *webFile) download(v *webVersion, body io.Reader) error {
	failure := func(err error) error {
		return failed(fault.IO, "the server does not send parts of the file, and a scratch file cannot be written: %v", err).
			WithHint("set TMPDIR to a folder with more space")
	}
	if w.scratch == nil {
		return failure(errors.ErrUnsupported)
	}
	f, err := w.scratch()
	if err != nil {
		return failure(err)
	}
	buffer := make([]byte, 1<<20)
	for err == nil {
		var n int
		if n, err = fill(body, buffer); err != nil {
			break
		}
		if _, err = f.Write(buffer[:n]); err != nil {
			err = failure(err)
			break
		}
		if v.size += int64(n); n < len(buffer) {
			v.copy = f
			return nil
		}
	}
	_ = f.Close() // it is deleted
	return err
}

// read reads from the copy, if there is one, or else requests a range of the same version.
func (w *webFile) read(ctx context.Context, _ string, _ identity, offset int64, p []byte) (got int, err error) {
	v, last := w.found, offset+int64(len(p))-1
	if v.copy != nil {
		if got, err = v.copy.ReadAt(p, offset); err != nil {
			return got, failed(fault.IO, "the scratch file cannot be read: %v", err)
		}
		return got, nil
	}
	err = w.get(ctx, fmt.Sprintf("bytes=%d-%d", offset, last), func(answer *http.Response) error {
		etag, weak := validators(answer.Header)
		size, ok := checkRange(answer, offset, last)
		switch {
		case etag != v.etag || weak != v.weak || size >= 0 && size != v.size: // not every server supports conditions
			return failed(fault.Changed, "")
		case !ok:
			return temporary("the server did not send the requested range")
		}
		got, err = fill(answer.Body, p)
		return err
	})
	return got, err
}

// get requests a range of the file, or all if byteRange is empty, and passes the answer to use.
func (w *webFile) get(parent context.Context, byteRange string, use func(*http.Response) error) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	x := &exchange{stop: stop, begin: time.Now(), stall: w.options.Stall, attempts: w.options.Attempts}
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		return failed(fault.Usage, "the part after the question mark is not valid") // the error quotes it
	}
	r.Header.Set("User-Agent", "idxport")
	r.Header.Set("Accept-Encoding", "identity") // else servers may compress the file, without ranges
	if byteRange != "" {
		r.Header.Set("Range", byteRange)
	}
	if w.found != nil && w.found.etag != "" {
		r.Header.Set("If-Match", w.found.etag)
	}
	answer, err := w.client.Do(r)
	if err == nil {
		defer answer.Body.Close()
		if err = statusError(answer.StatusCode); err == nil {
			err = use(answer)
		}
	}
	var known *fault.Error
	switch {
	case err != nil && parent.Err() != nil:
		return canceled(parent)
	case errors.As(err, &known):
		return known // without the URL that net/http adds
	case err != nil:
		return connectionError(err, "check the host's name in the URL")
	}
	return nil
}

// validators returns the headers that identify the version that was sent (RFC 9110, section 8.8):
// its strong ETag, or else its weak ETag and time as one string.
func validators(h http.Header) (etag, weak string) {
	etag = h.Get("ETag")
	if strings.HasPrefix(etag, `"`) && len(etag) <= maxETag {
		return etag, ""
	}
	return "", etag + " " + h.Get("Last-Modified")
}

// checkRange returns the length of the whole file, −1 if it is unknown, and reports whether the
// answer has exactly the bytes from first to last.
func checkRange(answer *http.Response, first, last int64) (size int64, ok bool) {
	if answer.StatusCode != http.StatusPartialContent {
		return answer.ContentLength, false
	}
	part, total, _ := strings.Cut(answer.Header.Get("Content-Range"), "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil || size < 0 {
		return -1, false
	}
	return size, part == fmt.Sprintf("bytes %d-%d", first, last) && last < size
}

// statusError returns the error for the status of an answer, nil for a success.
func statusError(status int) error {
	switch status {
	case http.StatusOK, http.StatusPartialContent:
		return nil
	case http.StatusNotFound, http.StatusGone:
		return failed(fault.NotFound, "")
	case http.StatusUnauthorized, http.StatusForbidden:
		return failed(fault.Permission, "status %d", status).
			WithHint("idxport sends no credentials to web servers: ask for a URL that needs none, which may be a presigned one")
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return failed(fault.Changed, "")
	}
	if isTemporaryStatus(status) {
		return temporary("status %d", status)
	}
	return failed(fault.IO, "status %d", status).WithHint("check the URL")
}
