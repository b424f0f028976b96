//go:build !lean

package parquet

import (
	"io"

	"github.com/andybalholm/brotli"
)

// readsBrotli reports whether Brotli pages are supported. Lean builds omit Brotli: its Go package
// has HTTP handlers and so links net/http, an eighth of such a build.
const readsBrotli = true

func newBrotliReader(r io.Reader) io.Reader { return brotli.NewReader(r) }
