package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/formats"
)

// TestSameBytes converts the sample to every format, alone and beside the others, with different
// numbers of workers. The same input and options give the same bytes.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	args := func(names ...string) []string {
		return []string{"--to", strings.Join(names, ",")}
	}
	one := hashes(t, append(args(formats.Names()...), "--workers", "1"))
	if n := len(formats.Names()); len(one) < 2*n {
		t.Fatalf("found %d files, expected at least %d for two splits in %d formats", len(one), 2*n, n)
	}
	for _, workers := range []string{"2", "8"} {
		sameFiles(t, "with "+workers+" workers", one, hashes(t, append(args(formats.Names()...), "--workers", workers)), len(one))
	}
	alone := map[string]string{}
	for i, name := range formats.Names() {
		maps.Copy(alone, hashes(t, append(args(name), "--workers", []string{"1", "2", "8"}[i%3])))
	}
	sameFiles(t, "alone", one, alone, len(one))
}

// TestSameCompressedBytes is the same for what compresses on many goroutines: codecs of Parquet and
// Arrow, files that are compressed as a whole.
func TestSameCompressedBytes(t *testing.T) {
	t.Parallel()
	for _, codecs := range [][]string{
		{"parquet=gzip", "arrow=zstd", "arrows=lz4", "csv=gzip", "tsv=zstd", "idx=gzip"},
		{"parquet=snappy", "arrow=lz4", "arrows=zstd", "csv=zstd", "tsv=gzip", "idx=zstd"},
	} {
		args := []string{"--to", "parquet,arrow,arrows,csv,tsv,idx"}
		for _, c := range codecs {
			args = append(args, "--compression", c)
		}
		one := hashes(t, append(args, "--workers", "1"))
		sameFiles(t, fmt.Sprint(codecs), one, hashes(t, append(args, "--workers", "8")), len(one))
	}
}

// hashes converts the sample and returns the sha256 of every file by its name in the output folder.
func hashes(t *testing.T, args []string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	command := append([]string{"idxport", "convert", filepath.Join(samples, "fashion-mnist"), "-o", out + "/"}, args...)
	if code := run(command, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", command, code, stderr.String())
	}
	sums := map[string]string{}
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		sums[path[len(out):]] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// compare demands that both have the same files with the same bytes.
func sameFiles(t *testing.T, what string, want, got map[string]string, count int) {
	t.Helper()
	if len(got) != count {
		t.Errorf("%s: found %d files, expected %d", what, len(got), count)
	}
	for name, sum := range got {
		if sum != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

// fashion are small files of Fashion-MNIST, by whose names they are found.
var fashion = filepath.Join("..", "..", "testdata", "fashion-mnist")

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
