package csv

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A wanted column is what testdata/make.py wrote down.
type wanted struct {
	name, dtype string
	shape       []int
	values      []float64
}

// UnmarshalJSON reads [name, type, shape, values].
func (w *wanted) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&w.name, &w.dtype, &w.shape, &w.values})
}

// value is element i of data.
func value(d idx.DType, data []byte, i int) float64 {
	switch d {
	case idx.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	case idx.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return float64(source.Int(d, data, i))
}

func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("found %d files, error %v", len(files), err)
	}
	for _, expected := range files {
		path := strings.TrimSuffix(expected, ".json")
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			var want []wanted
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			table, err := Open(path, source.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			data, err := readAll(table, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(table.Columns()) != len(want) || table.Rows() != -1 {
				t.Fatalf("found %v of %d rows, expected %d columns", table.Columns(), table.Rows(), len(want))
			}
			for i, w := range want {
				c := table.Columns()[i]
				if c.Name != w.name || c.DType.String() != w.dtype || !slices.Equal(c.Shape, w.shape) || c.Origin != filepath.Base(path) {
					t.Errorf("found %+v, expected %s %s %v", c, w.name, w.dtype, w.shape)
				}
				if len(data[i]) != len(w.values)*c.DType.Size() {
					t.Fatalf("%s has %d bytes, expected %d values", c.Name, len(data[i]), len(w.values))
				}
				for k, v := range w.values {
					if found := value(c.DType, data[i], k); found != v {
						t.Fatalf("%s: element %d is %v, expected %v", c.Name, k, found, v)
					}
				}
			}
		})
	}
}
