package convert_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/convert"
)

// writeSplits writes a data set with the splits train and test, of images of 4×6 pixels, and a file
// of class names.
func writeSplits(t *testing.T, dir string) (classes string) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	for split, rows := range map[string]uint32{"train": 80, "t10k": 30} {
		images := []byte{0, 0, 8, 3}
		for _, n := range []uint32{rows, 4, 6} {
			images = binary.BigEndian.AppendUint32(images, n)
		}
		labels := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, rows)
		for range rows {
			for range 24 {
				images = append(images, byte(random.UintN(256)))
			}
			labels = append(labels, byte(random.UintN(5)))
		}
		for name, data := range map[string][]byte{"-images-idx3-ubyte": images, "-labels-idx1-ubyte": labels} {
			if err := os.WriteFile(filepath.Join(dir, split+name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	classes = filepath.Join(t.TempDir(), "classes")
	if err := os.WriteFile(classes, []byte("a\nb\nc\nd\ne\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return classes
}

// randomView returns a random choice of rows and columns, and other dimensions or none.
func randomView(random *rand.Rand, classes string) (in convert.Source, view convert.View) {
	one := func(values ...string) []string { return values[random.IntN(len(values)):][:1] }
	maybe := func() bool { return random.IntN(3) == 0 }
	if maybe() {
		view.Columns = [][]string{{"label"}, {"image"}, {"image", "label"}}[random.IntN(3)]
	}
	if maybe() {
		if view.Where = one("label=0,1", "label!=2", "label=1-3", "class=a,d"); view.Where[0] == "class=a,d" {
			in.Classes = classes
		}
	}
	if maybe() {
		view.Holdout = one("validation=10", "validation=20%")
		view.Stratify = maybe()
	}
	view.Shuffle = maybe()
	if view.Shuffle || view.Holdout != nil {
		view.Seed = random.Int64N(3)
	}
	if maybe() {
		view.Take = 1 + random.Int64N(40)
	}
	if maybe() {
		in.Reshape = [][]int{{-1, 3, 8}, {-1, 24}, {-1, 4, 6, 1}}[random.IntN(3)]
	}
	if len(view.Columns) == 1 && view.Columns[0] == "label" {
		in.Reshape = nil // refused, as nothing uses it
	} else {
		view.Invert = maybe()
	}
	return in, view
}

// TestRandomViews converts random views of a data set to CSV and Parquet. The parts of a plan for
// the CSV files must have the same lines, and verify must find that the Parquet files equal
// their inputs as their metadata describes them.
func TestRandomViews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	classes := writeSplits(t, dir)
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		in, view := randomView(random, classes)
		in.Inputs, in.Dataset = []string{dir}, "none"
		shown, _ := json.Marshal(convert.Options{Source: in, View: view}) // they are data
		out := t.TempDir()
		report, err := convert.Run(t.Context(), convert.Options{Source: in, View: view,
			Target: convert.Target{Outputs: []string{out}, To: []string{"csv", "parquet"}, Verify: true}})
		if err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		work, _, _, err := convert.WritePlan(t.Context(), convert.Options{Source: in, View: view,
			Target: convert.Target{Outputs: []string{filepath.Join(out, "{split}-parts.csv")}}}, 7, filepath.Join(out, "plan.json"))
		if err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		for part := range work.Parts() {
			if _, err := convert.MakePart(t.Context(), work, part, convert.PartOptions{}); err != nil {
				t.Fatalf("%s: part %d: %v", shown, part, err)
			}
		}
		if _, err := work.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, o := range report.Outputs {
			if o.Format == "parquet" {
				of := convert.Source{Inputs: []string{dir}, Dataset: "none", Classes: in.Classes}
				if _, err := convert.Verify(t.Context(), o.Path, of, convert.View{}); err != nil {
					t.Errorf("%s: %v", shown, err)
				}
				continue
			}
			expected, err := os.ReadFile(o.Path)
			if err != nil {
				t.Fatal(err)
			}
			header, _, _ := bytes.Cut(expected, []byte("\n"))
			found := append(header, '\n')
			parts, _ := filepath.Glob(filepath.Join(out, o.Split+"-parts.csv", "*.csv")) // the pattern is well formed
			for _, path := range parts {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_, rows, _ := bytes.Cut(text, []byte("\n"))
				found = append(found, rows...)
			}
			if !bytes.Equal(found, expected) {
				t.Errorf("%s: the parts of %s differ from the file", shown, o.Split)
			}
		}
	}
}
