package proxy

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
)

// A Fault is what happens to one request.
type Fault int

// The faults. Lost and LostError let the server carry the request out and then hide that; all
// others before Stall keep the request from it.
const (
	None       Fault = iota
	Error500         // 500 InternalError
	Slow503          // 503 SlowDown
	Refused412       // 412 PreconditionFailed
	Denied403        // 403 AccessDenied, with words in the message that look like a signature
	Reset            // the connection is reset before anything is read
	Stall            // no answer until the client gives up
	Lost             // the request is carried out, the connection reset
	LostError        // the request is carried out, the answer is 500
	LostStall        // the request is carried out, and no answer comes
	Short            // half of the answer's body, then the end of the connection
	StallBody        // half of the answer's body, then nothing
	WrongETag        // the answer, with another ETag
	WrongRange       // the whole object, in answer to a request for a range
)

// String names the fault.
func (f Fault) String() string {
	return [...]string{"none", "500", "503", "412", "403", "reset", "stall", "lost", "lost, 500", "lost, stall",
		"short body", "stalled body", "wrong ETag", "wrong range"}[f]
}

// A Proxy sends requests on to a server, but for those that get a fault.
type Proxy struct {
	// Target is the server: http://127.0.0.1:7070.
	Target *url.URL
	// Next chooses the fault of a request; nil: None. It may be called from many goroutines.
	Next func(*http.Request) Fault

	mu   sync.Mutex
	done map[Fault]int
	sent int64
}

// Sent is how many bytes of bodies were given to clients.
func (p *Proxy) Sent() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// Done is how many faults of each kind there were.
func (p *Proxy) Done() map[Fault]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.done)
}

// ServeHTTP handles one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := None
	if p.Next != nil {
		fault = p.Next(r)
	}
	p.mu.Lock()
	if p.done == nil {
		p.done = map[Fault]int{}
	}
	p.done[fault]++
	p.mu.Unlock()
	switch fault {
	case Error500:
		refuse(w, r, http.StatusInternalServerError, "InternalError", "We encountered an internal error.")
	case Slow503:
		refuse(w, r, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case Refused412:
		refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed", "A pre-condition did not hold.")
	case Denied403:
		refuse(w, r, http.StatusForbidden, "AccessDenied", "https://example.org/?X-Amz-Signature=0123456789abcdef"+
			"&amp;X-Amz-Credential=AKIAEXAMPLE Signature = 0123456789abcdef")
	case Reset:
		reset(w)
	case Stall:
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client has gone
		<-r.Context().Done()
	default:
		p.forward(w, r, fault)
	}
}

// refuse answers with an error as S3 does.
func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>`+
			`<Error><Code>%s</Code><Message>%s</Message></Error>`, code, message)
	}
}

// reset ends the connection as a router does that has forgotten it.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// forward sends the request on, with its signature as it is, and gives the answer back as far as
// the fault lets it.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, fault Fault) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone: the server shall not see half a request that looks whole
	}
	to := *r.URL
	to.Scheme, to.Host = p.Target.Scheme, p.Target.Host
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header, out.Host, out.ContentLength = r.Header.Clone(), r.Host, int64(len(body))
	if fault == WrongRange {
		out.Header.Del("Range") // not signed
	}
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	p.mu.Lock()
	p.sent += int64(len(text))
	p.mu.Unlock()
	switch fault {
	case Lost:
		reset(w)
	case LostError:
		refuse(w, r, http.StatusInternalServerError, "InternalError", "We encountered an internal error.")
	case LostStall:
		<-r.Context().Done()
	default:
		give(w, r, answer, text, fault)
	}
}

// give writes the answer.
func give(w http.ResponseWriter, r *http.Request, answer *http.Response, text []byte, fault Fault) {
	maps.Copy(w.Header(), answer.Header)
	if fault == WrongETag && answer.Header.Get("ETag") != "" {
		w.Header().Set("ETag", `"00000000000000000000000000000000"`)
	}
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	}
	w.WriteHeader(answer.StatusCode)
	if (fault == Short || fault == StallBody) && len(text) > 0 { // an answer without a body is over: its client goes on
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		if fault == StallBody {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(text)
}
