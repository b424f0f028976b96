//go:build !lean

package object

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/idxport/idxport/fault"
)

// Limits of the answers of a server that lists objects, which may lie or have no end.
const (
	maxAnswer  = 4 << 20  // bytes of one answer: 1,000 keys of 1,024 bytes, with escapes
	maxList    = 64 << 20 // bytes of all answers
	maxPages   = 1000     // answers
	maxEntries = 100_000
)

// An exchange holds what the requests of one operation share. minio-go repeats them.
type exchange struct {
	stop     context.CancelCauseFunc // ends the operation, with its error
	begin    time.Time
	stall    time.Duration
	attempts int // maximum in a row
	failed   int // attempts in a row without success
	limited  bool
	pages    int
	bytes    int64 // of limited answers
}

type exchangeKey struct{}

// A guard is a transport for requests whose context has an exchange. It cancels requests that
// stall, limits answers, and ends an operation when it is no use to repeat the request: minio-go
// would repeat it, or pause before it returns the error.
type guard struct{ base http.RoundTripper }

// RoundTrip sends one request.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	x := r.Context().Value(exchangeKey{}).(*exchange)
	x.failed++
	if x.pages++; x.limited && x.pages > maxPages+x.attempts {
		x.stop(endless())
		return nil, endless()
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	stalled := temporary("no bytes were transferred for %v", x.stall)
	w := &watched{exchange: x, ctx: ctx, cancel: cancel, stalled: stalled}
	w.timer = time.AfterFunc(x.stall, func() { cancel(stalled) })
	r = r.WithContext(ctx)
	if r.Body != nil {
		r.Body = sent{r.Body, w}
	}
	answer, err := g.base.RoundTrip(r)
	w.timer.Stop()
	if err != nil {
		err = w.explain(err)
		cancel(nil)
		if x.failed >= x.attempts || isHopeless(err) || isDial(err) && time.Since(x.begin) > connectFor {
			x.stop(err)
		}
		return nil, err
	}
	w.ReadCloser, answer.Body = answer.Body, w
	return answer, nil
}

// A watched is the body of an answer. A read fails after the time stall without a byte.
type watched struct {
	io.ReadCloser
	*exchange
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	stalled error
	count   int64
}

// Read reads the body. The time between reads does not count.
func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.stall)
	n, err := w.ReadCloser.Read(p)
	w.timer.Stop()
	w.count += int64(n)
	if w.limited {
		if w.bytes += int64(n); w.count > maxAnswer || w.bytes > maxList {
			w.stop(endless())
			return n, endless()
		}
	}
	return n, w.explain(err)
}

// Close ends the request.
func (w *watched) Close() error {
	w.timer.Stop()
	defer w.cancel(nil)
	return w.ReadCloser.Close()
}

// explain returns err, or the error of a stalled request.
func (w *watched) explain(err error) error {
	if err != nil && err != io.EOF && context.Cause(w.ctx) == w.stalled {
		return w.stalled
	}
	return err
}

// sent is the body of a request: the request makes progress when bytes are read from it.
type sent struct {
	io.ReadCloser
	watched *watched
}

func (s sent) Read(p []byte) (int, error) {
	s.watched.timer.Reset(s.watched.stall)
	return s.ReadCloser.Read(p)
}

// endless returns the error for a list that is too long.
func endless() *fault.Error {
	return failed(fault.IO, "the server's list is too long: found more than %d entries, %d pages, %d MiB, or %d MiB in one page",
		maxEntries, maxPages, maxList>>20, maxAnswer>>20).WithHint("name the objects, or use a prefix with fewer keys")
}

// newTransport returns a transport that uses the proxies of the environment.
func newTransport() *http.Transport {
	// With compression, objects with Content-Encoding: gzip would be decompressed.
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 1 << 20,
		DisableCompression: true}
}

// isDial reports whether there was no connection.
func isDial(err error) bool {
	var call *net.OpError
	return errors.As(err, &call) && call.Op == "dial"
}

// isHopeless reports whether the host's name or certificate is wrong.
func isHopeless(err error) bool {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &name) && name.IsNotFound || errors.As(err, &certificate)
}

// connectionError returns the error of a request without an answer. It is temporary unless the host
// name or the certificate is wrong. hint is the hint for a wrong host name.
func connectionError(err error, hint string) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return failed(fault.IO, "the server's certificate is not trusted").
			WithHint("check the host's name and this machine's clock and certificates")
	case isHopeless(err):
		return failed(fault.IO, "%s", reason(err)).WithHint("%s", hint)
	}
	lost := temporary("%s", reason(err))
	if isDial(err) {
		lost.Err = errNoConnection
	}
	return lost.WithHint("check the address and the network; if they are right, run again")
}

// fill reads from the body of an answer until p is full or the body ends.
func fill(body io.Reader, p []byte) (got int, err error) {
	for got < len(p) && err == nil {
		var n int
		n, err = body.Read(p[got:])
		got += n
	}
	var known *fault.Error
	switch {
	case err == nil || err == io.EOF:
		return got, nil
	case errors.As(err, &known):
		return got, known
	}
	return got, temporary("the connection was lost: %s", reason(err))
}

// isTemporaryStatus reports whether a status is an error of the server's own, or one about time.
func isTemporaryStatus(status int) bool {
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented ||
		status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// reason returns the safe part of a connection's error, without the request.
func reason(err error) string {
	var request *url.Error
	var call *net.OpError
	var number syscall.Errno
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return "found no address of the server " + scrub(name.Name)
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &call):
		return scrub(call.Err.Error())
	case errors.As(err, &request):
		return scrub(request.Err.Error())
	}
	return scrub(err.Error())
}
