package main

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/sinks"
)

// TestSameBytes converts the sample to every format, alone and beside the others, with different
// numbers of workers. The same input and options give the same bytes.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	args := func(names ...string) []string {
		return []string{"--to", strings.Join(names, ",")}
	}
	one := outputs(t, append(args(sinks.Names()...), "--workers", "1"))
	if n := len(sinks.Names()); len(one) < 2*n {
		t.Fatalf("found %d files, expected at least %d for two splits in %d formats", len(one), 2*n, n)
	}
	for _, workers := range []string{"2", "8"} {
		same := outputs(t, append(args(sinks.Names()...), "--workers", workers))
		sameFiles(t, "with "+workers+" workers", one, same)
	}
	alone := map[string][]byte{}
	for i, name := range sinks.Names() {
		maps.Copy(alone, outputs(t, append(args(name), "--workers", []string{"1", "2", "8"}[i%3])))
	}
	sameFiles(t, "alone", one, alone)
}

// outputs converts the sample and returns every file by its name in the output folder.
func outputs(t *testing.T, args []string) map[string][]byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	succeed(t, append([]string{"convert", fashion, "-o", out + "/"}, args...)...)
	return contents(t, out)
}

// sameFiles demands that both have the same files with the same bytes.
func sameFiles(t *testing.T, what string, want, got map[string][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: found %d files, expected %d", what, len(got), len(want))
	}
	for name, data := range got {
		if !bytes.Equal(data, want[name]) {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}
