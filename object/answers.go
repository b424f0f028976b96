//go:build !lean

package object

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"syscall"

	"github.com/idxport/idxport/fault"
)

// plainCode matches error codes of S3. Other text from a server may contain secrets.
var plainCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`) })

// isTemporaryAnswer reports whether the request may succeed if it is repeated: after errors of the
// server, too many requests, a concurrent request for the same key, and lost or damaged bytes.
func isTemporaryAnswer(code string, status int) bool {
	switch code {
	case "SlowDown", "RequestTimeout", "RequestTimeTooSkewed", "InternalError", "ServiceUnavailable", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch",
		"XAmzContentChecksumMismatch", "OperationAborted", "ConditionalRequestConflict", "Throttling", "ThrottlingException", "RequestLimitExceeded":
		return true
	}
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// connectionError returns the error of a request without an answer. It is temporary unless the host
// name or the certificate is wrong. hint is the hint for a wrong host name.
func connectionError(err error, hint string) error {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return failed(fault.IO, "%s", reason(err)).WithHint("%s", hint)
	case errors.As(err, &certificate):
		return failed(fault.IO, "the server's certificate is not trusted").WithHint("check the host's name and this machine's clock and certificates")
	}
	return temporary("%s", reason(err)).WithHint("check the address and the network; if they are right, run again")
}

// fill reads from the body of an answer until p is full or the body ends.
func (w *watch) fill(body io.Reader, p []byte) (got int, err error) {
	for got < len(p) && err == nil {
		var n int
		n, err = body.Read(p[got:])
		got += n
		w.progress()
	}
	if err == nil || err == io.EOF {
		return got, nil
	}
	return got, temporary("the connection was lost: %s", reason(err))
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
