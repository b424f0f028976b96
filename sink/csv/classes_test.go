package csv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestClasses reads the names back with encoding/csv, also where a piece of text has room for few of them.
func TestClasses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`"`, 1<<20)
	names := []string{"plain", "with, comma", "with\ttab", `with "quotes"`, " leading", "=SUM(A1)", "+1", "-1", "@x", "", "ü", long}
	var labels []byte
	var want [][]string
	for i := range 2_000 {
		label := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}[i%10]
		if i == 999 {
			label = 11
		}
		labels = append(labels, label)
		want = append(want, []string{fmt.Sprint(label), names[label], fmt.Sprint(i % 256)})
	}
	var pixels []byte
	for i := range labels {
		pixels = append(pixels, byte(i))
	}
	s := &schema.Schema{Rows: int64(len(labels)), Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{1, 1}},
		{Name: "label", DType: idx.Uint8, Classes: names}}}
	s.Classes = schema.NewClasses(s, 1)
	for style, test := range map[string]struct {
		comma byte
		pixel string
	}{"kaggle": {',', "pixel0"}, "kaggle1": {'\t', "pixel1"}, "rowxcol": {';', "1x1"}} {
		var out bytes.Buffer
		k, err := New(&out, s, Options{Style: style, Comma: test.comma})
		if err != nil {
			t.Fatal(err)
		}
		step, err := k.Encode(t.Context(), schema.Batch{Rows: len(labels), Columns: [][]byte{pixels, labels}})
		if err == nil {
			err = step()
		}
		if err = errors.Join(err, k.Close()); err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(&out)
		r.Comma = rune(test.comma)
		got, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if header := []string{"label", "class", test.pixel}; !slices.Equal(got[0], header) {
			t.Errorf("found the header %q, expected %q", got[0], header)
		}
		if !slices.EqualFunc(got[1:], want, slices.Equal) {
			t.Errorf("style %s, separator %q: the rows differ", style, test.comma)
		}
	}
}

func TestClassesRefused(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 1, Columns: []source.Column{{Name: "label", DType: idx.Int16, Classes: []string{"a"}}}}
	s.Classes = schema.NewClasses(s, 0)
	for _, style := range []string{"pjreddie", "matrix"} {
		if _, err := New(io.Discard, s, Options{Style: style}); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found %v, expected ErrUnsupported", style, err)
		}
	}
	k, err := New(io.Discard, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range [][]byte{{1, 0}, {0xff, 0xff}} {
		if _, err := k.Encode(t.Context(), schema.Batch{Rows: 1, Columns: [][]byte{label}}); !errors.Is(err, fault.Malformed) {
			t.Errorf("label % x: found %v, expected a label without a name", label, err)
		}
	}
	huge := &schema.Schema{Rows: 1, Columns: []source.Column{{Name: "label", DType: idx.Uint8, Classes: []string{strings.Repeat("a", pieceSize+1)}}}}
	huge.Classes = schema.NewClasses(huge, 0)
	if _, err := New(io.Discard, huge, Options{}); !errors.Is(err, fault.Usage) {
		t.Errorf("a huge name: found %v, expected ErrUnsupported", err)
	}
}
