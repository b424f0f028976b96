package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzPair sorts any names of files into tables: each file into one, together with those of its data set and split alone, and in an order that does not
// depend on theirs beyond ties.
func FuzzPair(f *testing.F) {
	f.Add("train-images-idx3-ubyte.gz\ntrain-labels-idx1-ubyte.gz\nt10k-images-idx3-ubyte\nt10k-labels-idx1-ubyte")
	f.Add("emnist-letters-train-images-idx3-ubyte\nemnist-digits-train-images-idx3-ubyte\nX_train.idx\ny_train.idx")
	f.Add("qmnist-train-labels-idx2-int.gz\nqmnist-train-labels-idx1-ubyte\nnist\n-images\n\xff-labels.IDX\n.idx")
	f.Fuzz(func(t *testing.T, names string) {
		var all []candidate
		for name := range strings.SplitSeq(names, "\n") {
			all = append(all, candidate{filepath.Join("d", name), ParseName(name)})
		}
		pairings := pair(all)
		count := 0
		for i, p := range pairings {
			if len(p.files) == 0 {
				t.Error("a table without files")
			}
			for _, c := range p.files {
				if c.name.set() != p.set || c.name.Split != p.split {
					t.Errorf("%q is in the table of %q, split %q", c.path, p.set, p.split)
				}
			}
			count += len(p.files)
			if i > 0 && splitRank(p.split) < splitRank(pairings[i-1].split) {
				t.Errorf("split %q stands behind %q", p.split, pairings[i-1].split)
			}
			if slices.ContainsFunc(pairings[:i], func(q pairing) bool { return q.set == p.set && q.split == p.split }) {
				t.Errorf("two tables of %q, split %q", p.set, p.split)
			}
			_ = tableStem("d", p) // it must not panic
		}
		if count != len(all) {
			t.Errorf("found %d files in tables, expected %d", count, len(all))
		}
	})
}
