package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/test/must"
)

// partInput writes a table of images of 28×28 and their labels, and returns its folder.
func partInput(t *testing.T, rows int, compressed bool) string {
	t.Helper()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	images, labels := make([]byte, rows*784), make([]byte, rows)
	for i := range images {
		images[i] = byte(random.Uint32() >> 30) // compressible
	}
	for i := range labels {
		labels[i] = byte(random.IntN(10))
	}
	for name, a := range map[string]tensor{
		"train-images-idx3-ubyte": {code: 8, dims: []int{rows, 28, 28}, payload: images},
		"train-labels-idx1-ubyte": {code: 8, dims: []int{rows}, payload: labels},
	} {
		data := encodeIDX(a)
		if compressed {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, err := w.Write(data)
			must.Do(t, errors.Join(err, w.Close()))
			name, data = name+".gz", packed.Bytes()
		}
		writeFile(t, dir, name, data)
	}
	return dir
}

// TestParts demands that for every format, the parts of a table together hold each row of the whole
// once, in its order, also if there are more parts than rows.
func TestParts(t *testing.T) {
	t.Parallel()
	const rows = 65
	inputs := map[string]string{"raw": partInput(t, rows, false), "gz": partInput(t, rows, true)}
	for name, flags := range map[string]string{
		"all rows": "", "range": "--rows 5:50", "values": "--where label=0-6", "first": "--take 30 --rows -40:",
		"random": "--holdout validation=20% --stratify --shuffle --seed 3 --where label!=9",
	} {
		for kind, input := range inputs {
			counts := []int{2, 7}
			switch {
			case name == "all rows" && kind == "raw":
				counts = []int{1, 2, 7, 64}
			case name == "all rows":
				counts = []int{2, rows + 5}
			}
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				args := []string{"convert", input, "--dataset", "none", "--to", strings.Join(sinks.Names(), ",")}
				testParts(t, append(args, strings.Fields(flags)...), counts)
			})
		}
	}
}

func testParts(t *testing.T, args []string, counts []int) {
	t.Helper()
	dir := t.TempDir()
	convert := func(more ...string) {
		t.Helper()
		succeed(t, slices.Concat(args, more)...)
	}
	convert("-o", dir+"/whole/")
	whole := outputText(t, dir+"/whole")
	for _, n := range counts {
		joined := map[string]string{}
		for i := 1; i <= n; i++ {
			convert("-o", fmt.Sprintf("%s/%d/{part}/", dir, n), "--part", fmt.Sprintf("%d/%d", i, n))
			for name, text := range outputText(t, fmt.Sprintf("%s/%d/%0*d-of-%[2]d", dir, n, len(strconv.Itoa(n)), i)) {
				joined[name] += text
			}
		}
		if len(joined) != len(whole) {
			t.Errorf("%d parts have %d outputs, expected the %d of the whole", n, len(joined), len(whole))
		}
		for name, want := range whole {
			if joined[name] != want {
				t.Errorf("%s: %d parts together differ from the whole", name, n)
			}
		}
	}
}

// outputText returns the rows of each output in dir, read without the code under test.
func outputText(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.ContainsAny(e.Name()[:1], "_.") {
			return err
		}
		text, err := rowsIn(path)
		name, _ := filepath.Rel(dir, path)
		found[name] += text // an image has a file of its own, whose name has its row
		return err
	}))
	return found
}

// rowsIn returns the rows of a file as text.
func rowsIn(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	switch filepath.Ext(path) {
	case ".png":
		return string(data), nil
	case ".csv", ".tsv":
		_, rows, _ := strings.Cut(string(data), "\n")
		return rows, nil
	case ".parquet", ".arrow", ".arrows":
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		read := readArrow
		if filepath.Ext(path) == ".parquet" {
			read = readParquet
		}
		lines, err := read(f)
		others := func(line string) bool { return !strings.HasPrefix(line, "row ") }
		return strings.Join(append(slices.DeleteFunc(lines, others), ""), "\n"), err
	case ".tar":
		used := len(bytes.TrimRight(data, "\x00")) // without the blocks of zeros that end an archive
		return string(data[:(used+511)/512*512]), nil
	case ".npy":
		return string(data[10+int(data[8])+int(data[9])<<8:]), nil // without the header and its length
	}
	return string(data[4+4*data[3]:]), nil
}

// TestPartReadsItsOwnBytes demands that a part of an uncompressed input reads no other rows. The
// shell adds what its children read to its own counters.
func TestPartReadsItsOwnBytes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux counts the bytes that a process reads")
	}
	const rows, n = 8000, 8
	dir := t.TempDir()
	must.Do(t, os.Symlink(must.Get(os.Executable())(t), dir+"/idxport"))
	out, err := exec.Command("sh", "-c", `"$@" && cat /proc/$$/io`, "sh", dir+"/idxport", "convert", "--quiet",
		partInput(t, rows, false), "-o", dir+"/{part}.arrow", "--part", "3/8").CombinedOutput()
	var read int
	if _, scan := fmt.Sscanf(string(out), "rchar: %d", &read); err != nil || scan != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if own := rows * 785 / n; read < own || read > own+own/8 {
		t.Errorf("read %d bytes, expected those of its own rows, %d, and few more", read, own)
	}
}
