package csv

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	sinkcsv "github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

const (
	fashionImages = "image=testdata/fashion-mnist/t10k-images-idx3-ubyte.gz"
	fashionLabels = "label=testdata/fashion-mnist/t10k-labels-idx1-ubyte.gz"
)

func TestEveryStyleComesBack(t *testing.T) {
	t.Parallel()
	for _, style := range sinkcsv.Styles() {
		for _, comma := range []byte{',', '\t', ';'} {
			if comma != ',' && style.Name != sinkcsv.DefaultStyle {
				continue
			}
			t.Run(fmt.Sprintf("%s%q", style.Name, comma), func(t *testing.T) {
				t.Parallel()
				files := []string{fashionImages, fashionLabels}
				if style.Name == "matrix" {
					files = files[:1]
				}
				text := written(t, sourcetest.OpenIDX(t, files...), sinkcsv.Options{Style: style.Name, Comma: comma})
				for name, text := range map[string]string{
					"as written": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "no end": strings.TrimSuffix(text, "\n"),
					"byte order mark": "\xef\xbb\xbf" + text, "empty lines at the end": text + "\n\r\n",
				} {
					got, data, err := parse(text, source.ReadOptions{})
					if err != nil {
						t.Fatal(name, err)
					}
					sourcetest.Same(t, got.Columns(), data, files...)
				}
			})
		}
	}
}

func TestEveryTypeComesBack(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		for _, shape := range []string{"3x7x9", "2x5x7x3", "5x13"} {
			t.Run(d.String()+"/"+shape, func(t *testing.T) {
				t.Parallel()
				file := "image=testdata/tiny/" + d.String() + "-" + shape + ".idx"
				original := sourcetest.OpenIDX(t, file)
				text := written(t, original, sinkcsv.Options{Style: "kaggle"})
				got, data, err := parse(text, source.ReadOptions{DType: d, Shape: original.Columns()[0].Shape})
				if err != nil {
					t.Fatal(err)
				}
				if d.Float() { // NaN has no payload in text
					want := must.Get(sourcetest.ReadAll(sourcetest.OpenIDX(t, file), 100))(t)
					expectSameFloats(t, d, data[0], want[0])
					return
				}
				sourcetest.Same(t, got.Columns(), data, file)
			})
		}
	}
}

func expectSameFloats(t *testing.T, d idx.DType, got, want []byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("found %d bytes, expected %d", len(got), len(want))
	}
	for i := 0; i < len(got); i += d.Size() {
		g, w := got[i:i+d.Size()], want[i:i+d.Size()]
		if !bytes.Equal(g, w) && !(math.IsNaN(source.Float(d, g, 0)) && math.IsNaN(source.Float(d, w, 0))) {
			t.Fatalf("element %d is %v, expected %v", i/d.Size(), source.Float(d, g, 0), source.Float(d, w, 0))
		}
	}
}
