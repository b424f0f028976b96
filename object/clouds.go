//go:build (gs || azblob) && !lean

package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/idxport/idxport/fault"
)

// answerFailure is what an answer means that is an error, of Google's storage and of Azure's. Its code is of the server's own, and may be empty.
func answerFailure(code string, status int, hint string) error {
	if !plainCode().MatchString(code) {
		code = ""
	}
	text := strings.TrimSpace(fmt.Sprintf("%s (status %d)", code, status))
	switch {
	case status == http.StatusPreconditionFailed:
		return &failure{kind: ErrExists}
	case fleeting(code, status):
		return &failure{kind: ErrTransfer, text: text, again: true}
	case status == http.StatusNotFound:
		return &failure{kind: ErrNotFound}
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return &failure{kind: ErrDenied, text: text, hint: hint}
	case status == http.StatusRequestedRangeNotSatisfiable:
		return &failure{kind: fault.Changed}
	}
	return &failure{kind: ErrTransfer, text: text}
}

// silence is what an error means that is no answer of the server.
func silence(err error, hint string) error {
	var known *failure
	switch {
	case errors.As(err, &known): // of watched requests
		return known
	case errors.Is(err, context.Canceled): // by the caller, and without the text around it, which is the request
		return context.Canceled
	}
	err = unanswered(err)
	if errors.As(err, &known) && known.hint != "" {
		known.hint = hint
	}
	return err
}

// repeats tells whether a request that failed so is to be repeated.
func (d *delivery) repeats(err error) bool {
	if !passing(err) {
		return false
	}
	d.doubt.Store(true)
	return true
}

// patientTransport ends requests of uploads that stand still: the kits of the clouds wait forever. All others are watched by whoever makes them.
type patientTransport struct{ base http.RoundTripper }

// RoundTrip sends one request. It is over when nothing was sent or received for as long as the upload's options say.
func (t patientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	stall, ok := r.Context().Value(stallKey{}).(time.Duration)
	if !ok {
		return t.base.RoundTrip(r)
	}
	ctx, w := watched(r.Context(), stall)
	out := r.Clone(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		out.Body = &watchedStream{r.Body, r.Context(), ctx, w, false}
	}
	answer, err := t.base.RoundTrip(out)
	if err != nil {
		w.stop()
		return nil, cut(r.Context(), ctx, stall, err)
	}
	answer.Body = &watchedStream{answer.Body, r.Context(), ctx, w, true}
	return answer, nil
}

// A watchedStream is what a request sends or receives. The end of what it receives is that of the watch.
type watchedStream struct {
	io.ReadCloser
	parent, ctx context.Context
	watch       *watch
	last        bool
}

// Read reports that something moved.
func (s *watchedStream) Read(p []byte) (int, error) {
	s.watch.alive()
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = cut(s.parent, s.ctx, s.watch.stall, err)
	}
	return n, err
}

// Close ends the request.
func (s *watchedStream) Close() error {
	if s.last {
		s.watch.stop()
	}
	return s.ReadCloser.Close()
}
