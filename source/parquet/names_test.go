package parquet

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idxport/idxport/source"
)

// TestFilesOfAFolder lists folders by the names that writers give: shards and parts that tell how many there are, splits, numbers with and without zeros.
func TestFilesOfAFolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names []string
		split string
		want  []string
		err   error
	}{
		"parts that count":        {[]string{"part-00001-of-00002.parquet", "part-00000-of-00002.parquet"}, "", []string{"part-00000-of-00002.parquet", "part-00001-of-00002.parquet"}, nil},
		"parts, one is missing":   {[]string{"part-00000-of-00002.parquet"}, "", nil, ErrDamaged},
		"shards of one split":     {[]string{"test-00000-of-00001.parquet", "train-00000-of-00001.parquet"}, "train", []string{"train-00000-of-00001.parquet"}, nil},
		"a split that is not":     {[]string{"test-00000-of-00001.parquet"}, "train", nil, ErrSplits},
		"splits, none is chosen":  {[]string{"test.parquet", "train.parquet"}, "", nil, ErrSplits},
		"a split beside others":   {[]string{"extra.parquet", "train_1.parquet"}, "train", []string{"train_1.parquet"}, nil},
		"numbers without zeros":   {[]string{"x10.parquet", "x9.parquet", "x1y2.parquet", "x1y10.parquet"}, "", []string{"x1y2.parquet", "x1y10.parquet", "x9.parquet", "x10.parquet"}, nil},
		"one number, two lengths": {[]string{"x01.parquet", "x1.parquet"}, "", []string{"x1.parquet", "x01.parquet"}, nil},
		"one begins the other":    {[]string{"x.parquet.parquet", "x.parquet"}, "", []string{"x.parquet", "x.parquet.parquet"}, nil},
		"nothing":                 {nil, "", nil, ErrUnsupported},
		"only what is left out":   {[]string{"_metadata.parquet", ".x.parquet", "x.csv"}, "", nil, ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for _, name := range c.names {
				put(t, filepath.Join(folder, name), nil)
			}
			var want []string
			for _, name := range c.want {
				want = append(want, filepath.Join(folder, name))
			}
			if found, err := Files(folder, c.split); !slices.Equal(found, want) || !errors.Is(err, c.err) {
				t.Errorf("found %q and %v, expected %q and %v", found, err, want, c.err)
			}
		})
	}
	if _, err := Files(filepath.Join(t.TempDir(), "missing"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
	if _, err := Open(t.TempDir(), source.ReadOptions{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("found %v, expected %v", err, ErrUnsupported)
	}
}
