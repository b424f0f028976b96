package interop

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An idxArray is an IDX file: its shape, and its elements as little-endian bytes.
type idxArray struct {
	code  byte // of the data type, in the file's header
	size  int  // bytes of an element
	shape []int
	bytes []byte
}

// names of the data types, as Arrow calls them.
var names = map[byte]string{0x08: "uint8", 0x09: "int8", 0x0B: "int16", 0x0C: "int32", 0x0D: "float32", 0x0E: "float64"}

var sizes = map[byte]int{0x08: 1, 0x09: 1, 0x0B: 2, 0x0C: 4, 0x0D: 4, 0x0E: 8}

// width is the number of elements of a record.
func (a idxArray) width() int {
	n := 1
	for _, dim := range a.shape[1:] {
		n *= dim
	}
	return n
}

// readIDX reads an IDX file by the format's definition.
func readIDX(path string) (idxArray, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return idxArray{}, err
	}
	a := idxArray{code: data[2], size: sizes[data[2]]}
	head := 4 + 4*int(data[3])
	for at := 4; at < head; at += 4 {
		a.shape = append(a.shape, int(binary.BigEndian.Uint32(data[at:])))
	}
	a.bytes = data[head:]
	for element := range slices.Chunk(a.bytes, a.size) {
		slices.Reverse(element)
	}
	return a, nil
}

// A test is a line of cases.jsonl: a file, and the IDX files that it was made of.
type test struct {
	Format, Layout, Codec, File string
	Columns                     []struct{ Name, IDX string }
}

// A cell is a line of the record that matrix/assemble.py reads.
type cell struct {
	Reader  string `json:"reader"`
	File    string `json:"file"`
	Kind    string `json:"kind,omitempty"`
	Exact   bool   `json:"exact"`
	Refuses string `json:"refuses,omitempty"`
	Differs string `json:"differs,omitempty"`
}

// A table is what a reader found: the tensor's type in its words, and the elements of each column
// as little-endian bytes, lists checked.
type table struct {
	kind    string
	exact   bool // the elements have the type of the input
	columns map[string][]byte
}

// errDiffers is a file that was read, with something else in it than the input has.
var errDiffers = errors.New("")

func differs(format string, args ...any) error {
	return fmt.Errorf("%w"+format, append([]any{errDiffers}, args...)...)
}

// A reader reads a file whose columns are like inputs.
type reader func(path string, t test, inputs map[string]idxArray) (table, error)

// record reads every file of the formats and writes what was found.
func record(t *testing.T, name string, read reader, formats ...string) {
	folder := os.Getenv("IDXPORT_CORPUS")
	if folder == "" {
		t.Skip("IDXPORT_CORPUS is not set: test/run interop sets it")
	}
	data, err := os.ReadFile(filepath.Join(folder, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	files, good := 0, 0
	for line := range strings.Lines(string(data)) {
		var c test
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(formats, c.Format) {
			continue
		}
		found := look(folder, c, read)
		found.Reader = name
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
		files++
		if found.Kind != "" {
			good++
		}
	}
	if files == 0 {
		t.Fatal("the corpus has no such files")
	}
	t.Logf("%s: %d files, %d read with every value as it was", name, files, good)
	cells := filepath.Join(os.Getenv("IDXPORT_CELLS"), name+".jsonl") // the programs in Python made the folder
	if err := os.WriteFile(cells, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// look reads one file and compares every value. A reader that panics refuses the file.
func look(folder string, c test, read reader) (found cell) {
	found.File = c.File
	defer func() {
		if r := recover(); r != nil {
			found.Refuses = fmt.Sprintf("panic: %v", r)
		}
	}()
	inputs := map[string]idxArray{}
	for _, column := range c.Columns {
		input, err := readIDX(filepath.Join(folder, column.IDX))
		if err != nil {
			return cell{File: c.File, Refuses: err.Error()}
		}
		inputs[column.Name] = input
	}
	result, err := read(filepath.Join(folder, c.File), c, inputs)
	for name, input := range inputs {
		if err == nil {
			err = compare(name, result.columns[name], input)
		}
	}
	switch {
	case errors.Is(err, errDiffers):
		found.Differs = err.Error()
	case err != nil:
		found.Refuses = err.Error()
	default:
		found.Kind, found.Exact = result.kind, result.exact
	}
	return found
}

// compare demands the same bits.
func compare(name string, found []byte, input idxArray) error {
	if len(found) != len(input.bytes) {
		return differs("%s: found %d bytes, expected %d", name, len(found), len(input.bytes))
	}
	for i := range found {
		if found[i] != input.bytes[i] {
			return differs("%s: element %d differs", name, i/input.size)
		}
	}
	return nil
}

// appendInteger appends an integer as an element of the input's type, which must hold it.
func appendInteger(to []byte, v int64, input idxArray) ([]byte, error) {
	size := input.size
	fits := (v<<(64-8*size))>>(64-8*size) == v
	if names[input.code] == "uint8" {
		fits = v >= 0 && v <= 255
	}
	if !fits {
		return nil, differs("found %d, which is no %s", v, names[input.code])
	}
	var element [8]byte
	binary.LittleEndian.PutUint64(element[:], uint64(v))
	return append(to, element[:size]...), nil
}

// appendPNG appends the samples of a PNG file.
func appendPNG(to, file []byte, input idxArray) ([]byte, error) {
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if size := picture.Bounds().Size(); size != image.Pt(input.shape[2], input.shape[1]) {
		return nil, differs("the picture has the size %v", size)
	}
	for y := range input.shape[1] {
		for x := range input.shape[2] {
			switch c := picture.At(x, y).(type) {
			case color.Gray:
				to = append(to, c.Y)
			case color.Gray16:
				to = binary.LittleEndian.AppendUint16(to, c.Y)
			case color.RGBA: // a picture without transparency
				to = append(to, c.R, c.G, c.B)
			case color.NRGBA:
				to = append(to, c.R, c.G, c.B, c.A)
			default:
				return nil, differs("the picture has colours of type %T", c)
			}
		}
	}
	return to, nil
}

// rowMajor makes rows of a column per element.
func rowMajor(columns [][]byte, input idxArray) ([]byte, error) {
	if len(columns) != input.width() {
		return nil, differs("found %d columns, expected %d", len(columns), input.width())
	}
	out := make([]byte, len(input.bytes))
	for i, column := range columns {
		if len(column)*len(columns) != len(out) {
			return nil, differs("column %d has %d bytes", i, len(column))
		}
		for row := range len(column) / input.size {
			copy(out[(row*len(columns)+i)*input.size:][:input.size], column[row*input.size:])
		}
	}
	return out, nil
}
