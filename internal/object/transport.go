package object

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/idxport/idxport/internal/fault"
)

// Limits of the answers of a server that lists objects, which may lie or have no end.
const (
	maxEntries = 100_000
	maxPages   = 1000     // answers
	maxList    = 64 << 20 // bytes of all answers
	maxAnswer  = 4 << 20  // bytes of one answer: 1,000 keys of 1,024 bytes, with escapes
	maxTags    = 50_000   // of one answer: an empty entry takes fifty times its bytes in memory
)

// A guard is a transport for the requests of one list, and the body of each answer. It limits them.
type guard struct {
	http.RoundTripper
	io.ReadCloser
	pages, list, answer, tags int
}

// RoundTrip sends one request.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.pages++; g.pages > maxPages {
		return nil, endless()
	}
	answer, err := g.RoundTripper.RoundTrip(r)
	if err == nil {
		g.ReadCloser, g.answer, g.tags = answer.Body, 0, 0
		answer.Body = g
	}
	return answer, err
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.list, g.answer, g.tags = g.list+n, g.answer+n, g.tags+bytes.Count(p[:n], []byte("<"))
	if g.list > maxList || g.answer > maxAnswer || g.tags > maxTags {
		return 0, endless()
	}
	return n, err
}

// A patientConn is a connection that fails when no byte was transferred for the time stall. The
// time between reads of a body does not count.
type patientConn struct {
	net.Conn
	stall time.Duration
}

func (c patientConn) Read(p []byte) (int, error) { return c.within(c.Conn.Read, p) }

// Write also prolongs the time of a Read that already waits for the answer.
func (c patientConn) Write(p []byte) (int, error) { return c.within(c.Conn.Write, p) }

func (c patientConn) within(call func([]byte) (int, error), p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.stall))
	n, err := call(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = temporary("no bytes were transferred for %v", c.stall)
	}
	return n, err
}

// newTransport returns a transport that uses the proxies of the environment. Its requests fail
// when no byte was transferred for the time stall. If refused is not nil, it is called with the
// address of a server that refuses a connection, which is the error 10061 on Windows.
func newTransport(stall time.Duration, refused func(address string)) *http.Transport {
	dialer := &net.Dialer{Timeout: stall}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if refused != nil && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.Errno(10061))) {
			refused(address)
		}
		if err != nil {
			return nil, err
		}
		return patientConn{c, stall}, nil
	}
	// With compression, objects with Content-Encoding: gzip would be decompressed.
	return &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dial, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20, DisableCompression: true}
}

// endless returns the error for a list that is too long.
func endless() *fault.Error {
	return failed(fault.IO, "the server's list is too long: found more than %d entries, %d pages or %d MiB, "+
		"or in one page %d MiB or %d tags", maxEntries, maxPages, maxList>>20, maxAnswer>>20, maxTags).
		WithHint("name the objects, or use a prefix with fewer keys")
}

// requestError returns the error of a request, which is no answer, as a *fault.Error, or the cause
// of the end of the context. It is temporary unless the host name or the certificate is wrong. hint
// is the hint for a wrong host name.
func requestError(ctx context.Context, err error, hint string) error {
	var known *fault.Error
	var name *net.DNSError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &known):
		return known // without the URL that net/http adds
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return failed(fault.IO, "the server's certificate is not trusted").
			WithHint("check the host's name and this machine's clock and certificates (on Linux: SSL_CERT_FILE=FILE)")
	case errors.As(err, &name) && name.IsNotFound:
		return failed(fault.IO, "%s", reason(err)).WithHint("%s", hint)
	case errors.As(err, new(net.Error)): // also a *url.Error
		return temporary("%s", reason(err)).WithHint("check the address and the network, or run again")
	}
	return failed(fault.IO, "the server's answer cannot be read: %s", reason(err)).WithHint("check ?endpoint=")
}

// receive fills p with the answer to a request for the bytes of a version from offset on. same
// reports whether the answer names this version. Not every server supports conditions and ranges.
func receive(answer http.Header, length int64, body io.Reader, same bool, v identity, offset int64, p []byte) (
	int, error) {
	part, size := contentRange(answer)
	if part == "" {
		size = length
	}
	whole := part == "" && int64(len(p)) == v.size
	switch {
	case !same || size >= 0 && size != v.size:
		return 0, failed(fault.Changed, "")
	case !whole && part != fmt.Sprintf("bytes %d-%d", offset, offset+int64(len(p))-1):
		return 0, temporary("the server did not send the requested range")
	}
	return fill(body, p)
}

// contentRange returns the part of a file that an answer has, as bytes FIRST-LAST, and the length
// of the file, −1 if it is unknown.
func contentRange(answer http.Header) (part string, size int64) {
	part, total, _ := strings.Cut(answer.Get("Content-Range"), "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		size = -1
	}
	return part, size
}

// fill reads from the body of an answer until p is full or the body ends.
func fill(body io.Reader, p []byte) (int, error) {
	got, err := io.ReadFull(body, p)
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		return got, nil
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return got, known
	}
	return got, temporary("the connection was lost: %s", reason(err))
}

// kinds are the kinds of errors of answers.
var kinds = map[int]fault.Kind{
	http.StatusUnauthorized:                 fault.Permission,
	http.StatusForbidden:                    fault.Permission,
	http.StatusNotFound:                     fault.NotFound,
	http.StatusGone:                         fault.NotFound,
	http.StatusConflict:                     fault.Locked, // of a condition
	http.StatusPreconditionFailed:           fault.Exists,
	http.StatusRequestedRangeNotSatisfiable: fault.Changed,
}

// statusError returns the error for the status of an answer, with a text that has the status. hint
// is that of an error whose cause is not known.
func statusError(status int, text, hint string) *fault.Error {
	kind, ok := kinds[status]
	switch {
	case kind == fault.Permission:
		return failed(kind, "%s", text)
	case ok:
		return failed(kind, "")
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return temporary("%s", text)
	}
	return failed(fault.IO, "%s", text).WithHint("%s", hint)
}

// reason returns the safe part of a connection's error, without the request.
func reason(err error) string {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return "found no address of the server " + scrub(name.Name)
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return scrub(err.Error())
}
