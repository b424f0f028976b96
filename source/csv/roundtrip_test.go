package csv

import (
	"fmt"
	"strings"
	"testing"

	sinkcsv "github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
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
				text := written(t, sourcetest.OpenIDX(t, files...), sinkcsv.Options{Layout: style.Name, Comma: comma})
				for name, text := range map[string]string{
					"as written": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"),
					"no end":          strings.TrimSuffix(text, "\n"),
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
