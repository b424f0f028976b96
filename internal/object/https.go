package object

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/fault"
)

// A webFile is a file on a web server. A run reads one version of it.
type webFile struct {
	url     string // with its query, which may be a secret
	options Options
	client  *http.Client

	mu    sync.Mutex
	found *identity // set by the first head, and never changed
}

// connectWeb returns a client for the file on a web server with the URL name.
func connectWeb(name, query string, o Options) *client {
	if query != "" {
		name += "?" + query
	}
	h := &http.Client{Transport: newTransport(o.Stall, o.refused), CheckRedirect: checkRedirect}
	w := &webFile{url: name, options: o, client: h}
	list := func(context.Context, string, int) ([]fs.DirEntry, error) {
		return nil, failed(fault.Usage, "the folders of web servers cannot be listed")
	}
	return &client{Options: o, head: w.head, read: w.read, list: list}
}

// checkRedirect refuses redirects from https to anything else.
func checkRedirect(r *http.Request, via []*http.Request) error {
	const maxRedirects = 10
	r.Header.Del("Referer") // it may contain a signature
	switch scheme := r.URL.Scheme; {
	case len(via) > maxRedirects:
		return failed(fault.IO, "found more than %d redirects", maxRedirects).WithHint("check the URL")
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
		v, err := w.version(ctx)
		if err == nil {
			w.found = &v
		} else if err := w.options.pause(ctx, err, n); err != nil {
			return identity{}, err
		}
	}
	return *w.found, nil
}

// version learns the version by requesting the first byte: not every server allows HEAD.
func (w *webFile) version(ctx context.Context) (v identity, err error) {
	err = w.get(ctx, "bytes=0-0", func(answer *http.Response) (err error) {
		v = validators(answer.Header)
		part, size := contentRange(answer.Header)
		switch {
		case size == 0, answer.StatusCode == http.StatusOK && answer.ContentLength == 0:
			return nil // it has no first byte
		case part == "bytes 0-0" && size > 0:
			v.size = size
			_, err = fill(answer.Body, make([]byte, 1)) // else the connection would be closed
			return err
		}
		return failed(fault.IO, "the server does not send parts of files").WithHint("download the file: curl -LO URL")
	})
	return v, err
}

// read requests a range of the same version.
func (w *webFile) read(ctx context.Context, _ string, v identity, offset int64, p []byte) (got int, err error) {
	err = w.get(ctx, fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(p))-1), func(answer *http.Response) error {
		now := validators(answer.Header)
		same := now.etag == v.etag && now.weak == v.weak
		got, err = receive(answer.Header, answer.ContentLength, answer.Body, same, v, offset, p)
		return err
	})
	return got, err
}

// get requests a range of the file and passes the answer to use.
func (w *webFile) get(ctx context.Context, byteRange string, use func(*http.Response) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		return failed(fault.Usage, "the part after the question mark is not valid") // the error quotes it
	}
	r.Header.Set("User-Agent", "idxport")
	r.Header.Set("Accept-Encoding", "identity") // else servers may compress the file, without ranges
	r.Header.Set("Range", byteRange)
	if w.found != nil && w.found.etag != "" {
		r.Header.Set("If-Match", w.found.etag)
	}
	answer, err := w.client.Do(r)
	if err == nil {
		defer answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
			err = use(answer)
		default: // an answer without the file
			e := statusError(answer.StatusCode, fmt.Sprintf("status %d", answer.StatusCode), "check the URL")
			if err = e; e.Kind == fault.Permission {
				e.Hint = "ask for a URL that needs no credentials, such as a presigned one: idxport sends none"
			}
		}
	}
	return requestError(ctx, err, "check the host's name in the URL")
}

// validators returns what identifies the version that was sent (RFC 9110, section 8.8): its strong
// ETag, or else its weak ETag and time as one string.
func validators(h http.Header) identity {
	etag, modified := h.Get("ETag"), h.Get("Last-Modified")
	v := identity{weak: etag + " " + modified}
	if strings.HasPrefix(etag, `"`) {
		v = identity{etag: etag}
	}
	v.modTime, _ = http.ParseTime(modified)
	return v
}
