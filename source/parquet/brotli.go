//go:build !lean

package parquet

import (
	"io"

	"github.com/andybalholm/brotli"
)

// readsBrotli reports whether pages compressed with Brotli are read. They are not in lean builds:
// Go's package for it has HTTP handlers, and so links net/http, which is an eighth of such a build.
const readsBrotli = true

func newBrotliReader(r io.Reader) io.Reader { return brotli.NewReader(r) }
