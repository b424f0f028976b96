package object

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Options control how requests are repeated. The zero value suits cloud networks.
type Options struct {
	Attempts int           // maximum for each request; 0 means 12
	Stall    time.Duration // a request fails after this time without a byte; 0 means 30 s

	partSize int // bytes of the first parts; 0 means the constant partSize
}

// The pauses between attempts are those of minio-go, which are random, double and have a maximum.
// So that its users wait no longer, a server without a connection is given up after connectFor.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = time.Second
	connectFor = 4 * time.Second
)

// withDefaults replaces zeros by the defaults.
func (o Options) withDefaults() Options {
	return Options{cmp.Or(o.Attempts, 12), cmp.Or(o.Stall, 30*time.Second), cmp.Or(o.partSize, partSize)}
}

// pause waits after attempt n, which failed with err, and returns nil if there is another attempt,
// or else the error. The first attempt began at begin. This is for what minio-go does not repeat:
// requests to web servers, and reads of an answer that ends too early.
func (o Options) pause(ctx context.Context, err error, n int, begin time.Time) error {
	refused := errors.Is(err, errNoConnection) && time.Since(begin) > connectFor
	if !isTemporary(err) || n >= o.Attempts || refused {
		return afterAttempts(err, n)
	}
	timer := time.NewTimer(rand.N(min(firstPause<<min(n-1, 20), maxPause) + 1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// Limits of uploads. S3 accepts 10,000 parts of 5 MiB to 5 GiB; with these sizes an object may have
// 285 GB.
const (
	partSize   = 8 << 20  // bytes of the first parts; only the last part may be smaller
	laterSize  = 32 << 20 // bytes of the parts after the first smallParts
	smallParts = 2000
	maxParts   = 10000
	maxSends   = 2 // concurrent requests; a third part is filled meanwhile
)
