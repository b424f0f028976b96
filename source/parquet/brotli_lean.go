//go:build lean

package parquet

import "io"

// See brotli.go.
const readsBrotli = false

func newBrotliReader(io.Reader) io.Reader { return nil } // never called
