package convert

import (
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
)

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, unix, windows string }{
		{"/C:/data/x.csv", "/C:/data/x.csv", "C:/data/x.csv"},
		{`/z:\data\x.csv`, `/z:\data\x.csv`, `z:\data\x.csv`},
		{"/C:/", "/C:/", "C:/"},
		{"/C:", "/C:", "/C:"}, // C: alone would be the working folder of that drive
		{"/data/x.csv", "/data/x.csv", "/data/x.csv"},
		{"/CD:/x", "/CD:/x", "/CD:/x"},
		{"C:/x", "C:/x", "C:/x"},
		{"/", "/", "/"},
	} {
		if got := pathInURL(c.path, "linux"); got != c.unix {
			t.Errorf("%s on Linux: found %s, expected %s", c.path, got, c.unix)
		}
		if got := pathInURL(c.path, "windows"); got != c.windows {
			t.Errorf("%s on Windows: found %s, expected %s", c.path, got, c.windows)
		}
	}
}

// The inputs of a part are checked only when both their headers and their rows were read.
func TestWatchNeedsEveryPiece(t *testing.T) {
	data := []byte{0, 0, 8, 1, 0, 0, 0, 2, 5, 6}
	path := filepath.Join(t.TempDir(), "labels")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	piece := func(from, to int64) plan.Piece {
		sum := xxh3.Hash128(data[from:to]).Bytes()
		return plan.Piece{From: from, To: to, XXH3: hex.EncodeToString(sum[:])}
	}
	header := piece(0, 8)
	part := &plan.Part{Last: 2, Pieces: []plan.Piece{piece(8, 10)}}
	target := &plan.Target{Inputs: []plan.Input{{Path: path, Column: "label", Bytes: 10, Header: &header}}}
	for n, whole := range map[int64]bool{0: false, 8: false, 9: false, 10: true} {
		w := &watch{Files: source.Local{}, target: target, part: part, same: map[int]bool{}}
		f, err := w.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, f, n); err != nil {
			t.Fatal(err)
		}
		if err := w.check(); (err == nil) != whole {
			t.Errorf("after %d of %d bytes: found %v", n, len(data), err)
		}
		f.Close()
	}
}
