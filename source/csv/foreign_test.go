package csv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// A wanted column comes from testdata/make.py.
type wanted struct {
	name, dtype string
	shape       []int
	values      []float64
}

// UnmarshalJSON reads [name, type, shape, values].
func (w *wanted) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&w.name, &w.dtype, &w.shape, &w.values})
}

func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 14 {
		t.Fatalf("found %d files, error %v", len(files), err)
	}
	for _, expected := range files {
		path := strings.TrimSuffix(expected, ".json")
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text := must.Get(os.ReadFile(expected))(t)
			var want []wanted
			must.Do(t, json.Unmarshal(text, &want))
			o := source.ReadOptions{}
			if strings.HasSuffix(path, "classes.csv") { // beside a column of class names
				o.Columns = []string{"label", "image"}
			}
			table := must.Get(Open(path, o))(t)
			defer table.Close()
			data := must.Get(sourcetest.ReadAll(table, 3))(t)
			if len(table.Columns()) != len(want) || table.Rows() != -1 {
				t.Fatalf("found %v of %d rows, expected %d columns", table.Columns(), table.Rows(), len(want))
			}
			for i, w := range want {
				c := table.Columns()[i]
				if c.Name != w.name || c.DType.String() != w.dtype || !slices.Equal(c.Shape, w.shape) ||
					c.Origin != filepath.Base(path) {
					t.Errorf("found %+v, expected %s %s %v", c, w.name, w.dtype, w.shape)
				}
				if len(data[i]) != len(w.values)*c.DType.Size() {
					t.Fatalf("%s has %d bytes, expected %d values", c.Name, len(data[i]), len(w.values))
				}
				for k, v := range w.values {
					if found := source.Float(c.DType, data[i], k); found != v {
						t.Fatalf("%s: element %d is %v, expected %v", c.Name, k, found, v)
					}
				}
			}
		})
	}
}
