package main

import (
	"bytes"
	"compress/gzip"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// payload is what an IDX file compressed with gzip holds after a header of n bytes.
func payload(t *testing.T, path string, n int) []byte {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	return must.Get(io.ReadAll(must.Get(gzip.NewReader(f))(t)))(t)[n:]
}

// The sheet of real images shows the first ten of each class, in the order of the labels and the
// rows, pixel by pixel.
func TestSheetShowsTheFirstOfEachClass(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "testdata", "fashion-mnist")
	var stdout, stderr bytes.Buffer
	args := []string{"idxport", "preview", folder, "--split", "test", "-o", "-", "--dataset", "fashion-mnist"}
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	m := must.Get(png.Decode(&stdout))(t)
	images := payload(t, filepath.Join(folder, "t10k-images-idx3-ubyte.gz"), 16)
	labels := payload(t, filepath.Join(folder, "t10k-labels-idx1-ubyte.gz"), 8)
	// An image has 28 pixels, twice as large, and a line; the page has a margin of 10 pixels.
	const step, margin, most, side = 2*28 + 1, 10, 10, 28
	left := m.Bounds().Dx() - margin - most*step
	shown := map[byte]int{}
	for row, label := range labels {
		column := shown[label]
		if column == most {
			continue
		}
		shown[label]++
		for y := range 2 * side {
			for x := range 2 * side {
				want := images[row*side*side+y/2*side+x/2]
				found := color.GrayModel.Convert(m.At(left+column*step+x, margin+1+int(label)*step+y)).(color.Gray).Y
				if found != want {
					t.Fatalf("row %d, label %d: found %d at %d,%d, expected %d", row, label, found, x, y, want)
				}
			}
		}
	}
	if len(shown) != 10 {
		t.Errorf("found %d classes, expected 10", len(shown))
	}
	dark := 0
	for y := range m.Bounds().Dy() {
		for x := range left - 1 {
			if color.GrayModel.Convert(m.At(x, y)).(color.Gray).Y < 100 {
				dark++
			}
		}
	}
	if dark < 500 {
		t.Errorf("found %d pixels of ink in the headings, expected more", dark)
	}
}

// endless is a stream of IDX data that fails the test if much of it is read.
type endless struct {
	t    *testing.T
	head []byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 8<<20 {
		e.t.Error("read more than 8 MiB")
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	clear(p[n:])
	return len(p), nil
}

// No more of a stream is read than is shown.
func TestPreviewReadsNoMoreThanItShows(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	in := &endless{t: t, head: []byte{0, 0, 8, 3, 0x7f, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 28}} // 2³¹ images
	if code := run([]string{"idxport", "preview", "-", "--images", "5"}, in, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "row 4") {
		t.Errorf("found\n%s", stdout.String())
	}
}

// A sheet of classes is complete when each class that has a name has its images.
func TestSheetReadsNoMoreThanItShows(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	labels, classes := filepath.Join(folder, "labels-idx1-ubyte"), filepath.Join(folder, "classes.txt")
	const rows = 100_000
	data := append([]byte{0, 0, 8, 1, 0, 1, 0x86, 0xa0}, bytes.Repeat([]byte{0, 1}, rows/2)...)
	must.Do(t, os.WriteFile(labels, data, 0o600))
	must.Do(t, os.WriteFile(classes, []byte("even\nodd\n"), 0o600))
	var stdout, stderr bytes.Buffer
	in := &endless{t: t, head: []byte{0, 0, 8, 3, 0, 1, 0x86, 0xa0, 0, 0, 0, 28, 0, 0, 0, 28}}
	args := []string{"idxport", "preview", "image=-", "label=" + labels, "--classes", classes, "-o", "-"}
	if code := run(args, in, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	m := must.Get(png.Decode(&stdout))(t)
	if height := m.Bounds().Dy(); height != 2*10+2*(2*28+1)+1 {
		t.Errorf("found %d pixels of height, expected two lines of images, of 57 pixels each, in a frame", height)
	}
}
