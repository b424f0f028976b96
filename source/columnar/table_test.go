package columnar

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// A fakeFile has the chunks of each leaf.
type fakeFile struct {
	rows   int64
	leaves [][]string
}

func (f *fakeFile) Close() error { return nil }

func (f *fakeFile) Next(i int, skip int64) (*Chunk, error) {
	if len(f.leaves[i]) == 0 {
		return nil, io.EOF
	}
	data := []byte(f.leaves[i][0])
	f.leaves[i] = f.leaves[i][1:]
	chunk := &Chunk{Entries: int64(len(data))}
	if chunk.Entries <= skip {
		return chunk, nil
	}
	chunk.Use = func(_ []byte, from, n int, use func(Values) error) error {
		if data[from] == 'x' {
			return fault.New(fault.Unsupported, "found an x")
		}
		return use(Values{Number: source.NumberUint8, Data: data[from:][:n]})
	}
	return chunk, nil
}

// openFake opens a table of the columns a, scalars, and b, lists of two.
func openFake(t *testing.T, f *fakeFile) *table {
	t.Helper()
	fields := []Field{{Name: "a", Kind: Number, Number: source.NumberUint8},
		{Name: "b", Kind: List, Number: source.NumberUint8, Lengths: []int{2}}}
	found := must.Get(Resolve(Input{Fields: fields, Rows: f.rows, Meta: map[string]string{"k": "v"}}))(t)
	return NewTable("file", f, found).(*table)
}

// TestTable reads chunks that end anywhere, in batches and from rows that begin anywhere.
func TestTable(t *testing.T) {
	t.Parallel()
	columns := []source.Column{{Name: "a", DType: idx.Uint8}, {Name: "b", DType: idx.Uint8, Shape: []int{2}}}
	for _, batch := range []int{1, 2, 3, 100} {
		for skip := range 6 {
			for _, rows := range []int64{5, -1} {
				f := &fakeFile{rows: rows, leaves: [][]string{{"123", "45"}, {"1", "122", "3", "34455"}}}
				table := openFake(t, f)
				must.Do(t, table.Skip(int64(skip)))
				sourcetest.Expect(t, table, batch, columns,
					[][]byte{[]byte("12345")[skip:], []byte("1122334455")[2*skip:]})
				if err := table.Skip(1); !errors.Is(err, fault.Usage) || table.Info().Meta["k"] != "v" {
					t.Errorf("found %v and %+v, expected no more rows, and the metadata", err, table.Info())
				}
			}
		}
	}
}

// TestTableOfOtherLengths has leaves that end too early or too late, and lists that end within a
// row. An earlier error in the same leaf is the cause.
func TestTableOfOtherLengths(t *testing.T) {
	t.Parallel()
	for want, leaves := range map[string][][]string{
		"different lengths: row 2 is not in all": {{"123"}, {"1122"}},
		"different lengths: row 3 is not in all": {{"123"}, {"112233", "44"}},
		"different lengths: row 1 is not in all": {{"1"}, {"112233"}},
		"found columns of different lengths: ":   {{"12"}, {"1122"}}, // of 3 rows
		"the last list has 1 elements, expected": {{"123"}, {"11223"}},
		"found an x":                             {{"123"}, {"11", "x23"}},
	} {
		for _, batch := range []int{3, 100} {
			both := [][]string{slices.Clone(leaves[0]), slices.Clone(leaves[1])}
			table := openFake(t, &fakeFile{rows: 3, leaves: both})
			if _, err := sourcetest.ReadAll(table, batch); err == nil || !strings.HasPrefix(err.Error(), "file: ") ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("batches of %d: found %v, expected %q", batch, err, want)
			}
		}
	}
}

// TestClassNames reads the names of labels beside them, which are no column, and others, which are
// an error even if they are names of other labels.
func TestClassNames(t *testing.T) {
	t.Parallel()
	label, class := Field{Name: "label", Kind: Number, Number: source.NumberUint8}, Field{Name: "class", Kind: Text}
	label.Metadata = map[string]string{schema.KeyDType: "uint8"}
	meta := map[string]string{source.KeyClasses: `["a","b"]`}
	open := func(first, second Field, leaves ...string) source.Table {
		found := must.Get(Resolve(Input{Fields: []Field{first, second}, Rows: 3, Meta: meta, First: value("a")}))(t)
		return NewTable("file", &fakeFile{leaves: [][]string{{leaves[0]}, {leaves[1]}}}, found)
	}
	columns := []source.Column{{Name: "label", DType: idx.Uint8}}
	sourcetest.Expect(t, open(label, class, "\x00\x01\x00", "aba"), 2, columns, [][]byte{{0, 1, 0}})
	sourcetest.Expect(t, open(class, label, "aba", "\x00\x01\x00"), 2, columns, [][]byte{{0, 1, 0}})
	want := `file: column class, row 2: found "b" beside label 0, which is "a"`
	_, err := sourcetest.ReadAll(open(label, class, "\x00\x01\x00", "abb"), 2)
	if !errors.Is(err, fault.Malformed) || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
}
