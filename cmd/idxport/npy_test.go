package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// Images are not written to an array named after labels, nor labels to one named after images.
func TestNPYIsNotCalledAfterAnotherColumn(t *testing.T) {
	t.Parallel()
	in := filepath.Join("..", "..", "testdata", "fashion-mnist")
	for name, c := range map[string]struct {
		input, output string
		code          int
	}{
		"images called y":      {"train-images-idx3-ubyte.gz", "y_train.npy", 64},
		"labels called images": {"train-labels-idx1-ubyte.gz", "images.npy", 64},
		"images called X":      {"train-images-idx3-ubyte.gz", "X_train.npy", 0},
		"images called data":   {"train-images-idx3-ubyte.gz", "data.npy", 0},
	} {
		out := filepath.Join(t.TempDir(), c.output)
		var stdout, stderr bytes.Buffer
		code := run([]string{"idxport", "convert", filepath.Join(in, c.input), "-o", out}, strings.NewReader(""), &stdout, &stderr)
		if code != c.code {
			t.Errorf("%s: exit code %d, expected %d: %s", name, code, c.code, stderr.String())
		}
	}
}
