//go:build !lean

package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/idxport/idxport/fault"
)

const maxRedirects = 10

// A webFile is a file on a web server. A run reads one version of it.
type webFile struct {
	url     string // with its query, which may be a secret
	options Options
	scratch func() (*os.File, error)
	client  *http.Client

	mu    sync.Mutex
	found *identity // set by the first head, and never changed
	copy  *os.File  // the whole file, if the server does not send parts; the garbage collector closes it
}

// connectWeb returns a client for the file on a web server with the URL name.
func connectWeb(name, query string, o Options, scratch func() (*os.File, error)) (*client, error) {
	if query != "" {
		name += "?" + query
	}
	w := &webFile{url: name, options: o, scratch: scratch,
		client: &http.Client{Transport: newTransport(o.Stall), CheckRedirect: checkRedirect}}
	return &client{Options: o, head: w.head, read: w.read, list: w.list}, nil
}

// checkRedirect refuses redirects from https to anything else.
func checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer") // it may contain a signature
	switch scheme := r.URL.Scheme; {
	case len(via) > maxRedirects:
		return failed(fault.IO, "found more than %d redirects", maxRedirects)
	case scheme != "https" && scheme != via[len(via)-1].URL.Scheme:
		return failed(fault.IO, "the server redirects to %s://, expected https://", scrub(scheme)).
			WithHint("ask for a URL without this redirect, after which others could change the file on its way")
	}
	return nil
}

// head returns the version of the file. Once it has succeeded, it sends no more requests.
func (w *webFile) head(ctx context.Context, _ string) (identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := 1; w.found == nil; n++ {
		// Not every server and signature allows HEAD.
		v, err := w.version(ctx, "bytes=0-0")
		if errors.Is(err, fault.Changed) { // an empty file, or one whose length the server does not know
			v, err = w.version(ctx, "")
		}
		if err == nil {
			w.found = &v
		} else if err := w.options.pause(ctx, err, n); err != nil {
			return identity{}, err
		}
	}
	return *w.found, nil
}

// version requests a range of the file, or all of it, to find out which version it has. If the
// server sends all of it, the webFile has a copy. If the server refuses the range or does not send
// the length of the file, version fails with fault.Changed.
func (w *webFile) version(ctx context.Context, byteRange string) (v identity, err error) {
	err = w.get(ctx, byteRange, func(answer *http.Response) (err error) {
		v = validators(answer.Header)
		v.modTime, _ = http.ParseTime(answer.Header.Get("Last-Modified"))
		if answer.StatusCode == http.StatusOK {
			v.size, err = w.download(answer.Body)
			return err
		}
		var part string
		if part, v.size = contentRange(answer.Header); part != "bytes 0-0" || v.size < 1 {
			return failed(fault.Changed, "")
		}
		_, err = fill(answer.Body, make([]byte, 1)) // else the connection would be closed
		return err
	})
	return v, err
}

// download copies the body of an answer to a scratch file, and returns its length.
func (w *webFile) download(body io.Reader) (size int64, err error) {
	failure := func(err error) error {
		return failed(fault.IO, "the server sends only whole files, and no scratch file can be written: %v", err).
			WithHint("set TMPDIR to a folder with more space")
	}
	if w.scratch == nil {
		return 0, failure(errors.ErrUnsupported)
	}
	f, err := w.scratch()
	if err != nil {
		return 0, failure(err)
	}
	buffer := make([]byte, 1<<20)
	for n := len(buffer); err == nil && n == len(buffer); size += int64(n) {
		if n, err = fill(body, buffer); err == nil {
			if _, err = f.Write(buffer[:n]); err != nil {
				err = failure(err)
			}
		}
	}
	if err != nil {
		_ = f.Close() // it is deleted
		return 0, err
	}
	w.copy = f
	return size, nil
}

// read reads from the copy, if there is one, or else requests a range of the same version.
func (w *webFile) read(ctx context.Context, _ string, v identity, offset int64, p []byte) (got int, err error) {
	if w.copy != nil {
		if got, err = w.copy.ReadAt(p, offset); err != nil {
			return got, failed(fault.IO, "the scratch file cannot be read: %v", err)
		}
		return got, nil
	}
	err = w.get(ctx, fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(p))-1), func(answer *http.Response) error {
		now := validators(answer.Header)
		same := now.etag == v.etag && now.weak == v.weak
		got, err = receive(answer.Header, answer.ContentLength, answer.Body, same, v, offset, p)
		return err
	})
	return got, err
}

// list fails.
func (w *webFile) list(context.Context, string, int) ([]fs.FileInfo, error) {
	return nil, failed(fault.Usage, "the folders of web servers cannot be listed")
}

// get requests a range of the file, or all if byteRange is empty, and passes the answer to use.
func (w *webFile) get(ctx context.Context, byteRange string, use func(*http.Response) error) error {
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
		if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusPartialContent {
			err = use(answer)
		} else {
			err = webError(answer.StatusCode)
		}
	}
	var known *fault.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &known):
		return known // without the URL that net/http adds
	case err != nil:
		return connectionError(err, "check the host's name in the URL")
	}
	return nil
}

// validators returns what identifies the version that was sent (RFC 9110, section 8.8): its strong
// ETag, or else its weak ETag and time as one string.
func validators(h http.Header) identity {
	etag := h.Get("ETag")
	if strings.HasPrefix(etag, `"`) {
		return identity{etag: etag}
	}
	return identity{weak: etag + " " + h.Get("Last-Modified")}
}

// webError returns the error for an answer without the file.
func webError(status int) error {
	e := statusError(status, fmt.Sprintf("status %d", status))
	switch {
	case errors.Is(e, fault.Permission):
		return e.WithHint("ask for a URL that needs no credentials, such as a presigned one: idxport sends none")
	case errors.Is(e, fault.IO) && !isTemporary(e):
		return e.WithHint("check the URL")
	}
	return e
}
