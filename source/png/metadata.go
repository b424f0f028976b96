package png

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// The files that Hugging Face's imagefolder reads.
const (
	metadataName = "metadata.csv"
	linesName    = "metadata.jsonl"
	parquetName  = "metadata.parquet"
)

// fileName is the column of the names of the images, relative to the folder.
const fileName = "file_name"

// A metadata has the values of metadata.csv or metadata.jsonl, as text.
type metadata struct {
	name   string     // of the file
	header []string   // names of the columns
	rows   [][]string // in the order of the rows of the table, once they are arranged
}

// column returns the index of a column, −1 if there is none.
func (m *metadata) column(name string) int { return slices.Index(m.header, name) }

// readMetadata returns the values for each image, or nil if there is no such file.
func (t *Table) readMetadata() (m *metadata, err error) {
	readers := map[string]func(io.Reader) (header []string, rows [][]string, err error){
		metadataName: readCSV, linesName: readLines, parquetName: nil,
	}
	for _, name := range []string{metadataName, linesName, parquetName} {
		info, err := t.root.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		if m != nil || readers[name] == nil {
			hint := "move this file or " + metadataName + " away"
			if name == parquetName {
				hint = "write it as metadata.csv, and move it away: duckdb -c " + shell.Quote(fmt.Sprintf("COPY (FROM '%s') TO '%s'",
					path.Join(t.path, name), path.Join(t.path, metadataName)))
			}
			return nil, t.inFile(name, fault.New(fault.Unsupported,
				"only one of metadata.csv and metadata.jsonl is read").WithHint("%s", hint))
		}
		text, err := t.root.ReadFile(name)
		if err != nil {
			return nil, t.inFile(name, err)
		}
		m = &metadata{name: name}
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the mark that Excel writes before UTF-8
		m.header, m.rows, err = readers[name](bytes.NewReader(text))
		if err == nil {
			err = t.arrange(m)
		}
		if err != nil {
			return nil, t.inFile(name, fault.Wrap(fault.Malformed, err))
		}
	}
	return m, nil
}

// readCSV reads a table whose first line has the names of its columns.
func readCSV(r io.Reader) (header []string, rows [][]string, err error) {
	rows, err = csv.NewReader(r).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	return rows[0], rows[1:], nil
}

// readLines reads a JSON object on each line, all with the same members.
func readLines(r io.Reader) (header []string, rows [][]string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var object map[string]any
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if err := d.Decode(&object); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n, err)
		}
		names := slices.Sorted(maps.Keys(object))
		if header == nil {
			header = names
		}
		if !slices.Equal(names, header) {
			return nil, nil, fmt.Errorf("line %d has the members %q, expected %q", n, names, header)
		}
		var row []string
		for _, name := range names {
			switch v := object[name].(type) {
			case string, json.Number:
				row = append(row, fmt.Sprint(v))
			default:
				return nil, nil, fmt.Errorf("line %d: the member %s is neither a number nor a string", n, name)
			}
		}
		rows = append(rows, row)
	}
	return header, rows, lines.Err()
}

// arrange puts the rows of m into the order of the table. Lines of other files are left out.
func (t *Table) arrange(m *metadata) error {
	k := m.column(fileName)
	if k < 0 {
		return fault.New(fault.Malformed, "found the columns %s, expected file_name and label",
			strings.Join(m.header, ", ")).
			WithHint("rename its columns, or move the file away to read the images alone")
	}
	for i, name := range m.header {
		if name == "" || name == t.columns[0].Name || slices.Contains(m.header[:i], name) {
			return fault.New(fault.Malformed, "column %d has the name %q, expected one of its own", i, name).
				WithHint("rename or remove the column; pandas leaves out row numbers with to_csv(…, index=False)")
		}
	}
	byFile := make(map[string][]string, len(m.rows))
	for _, row := range m.rows {
		name := path.Clean(row[k])
		if other, ok := byFile[name]; ok && !slices.Equal(other, row) {
			return fault.New(fault.Malformed, "found two different lines for %s: %q and %q", name, other, row)
		}
		byFile[name] = row
	}
	m.rows = make([][]string, len(t.list.files))
	for i, f := range t.list.files {
		if m.rows[i] = byFile[t.list.path(f)]; m.rows[i] == nil {
			return fault.New(fault.Malformed, "found no line for %s", t.list.path(f)).
				WithHint("give each image a line, or move the images or this file away")
		}
	}
	return nil
}

// labelByMetadata adds the column of m that has the labels: integers, or names of o.Classes.
func (t *Table) labelByMetadata(m *metadata, name string, o source.ReadOptions) error {
	k := m.column(name)
	labels := make([]int32, len(m.rows))
	for row, values := range m.rows {
		v, err := strconv.ParseInt(strings.TrimSpace(values[k]), 10, 32)
		if errors.Is(err, strconv.ErrRange) {
			return t.inFile(m.name, fault.New(fault.Malformed, "%s has the label %s, expected an integer of 32 bits",
				t.list.path(t.list.files[row]), values[k]))
		}
		if err != nil {
			return t.labelByName(m, k, o)
		}
		labels[row] = int32(v)
	}
	numbers := t.labelByNumber(t.allFolders(nil))
	if err := t.checkNumbers(m, numbers); err != nil {
		return err
	}
	var classes []string
	if class := m.column(schema.ClassName); class >= 0 {
		classes = namesByLabel(labels, func(row int) string { return m.rows[row][class] })
	} else if numbers == nil && t.list.folders[0] != "" {
		classes = namesByLabel(labels, func(row int) string { return t.list.folders[t.list.files[row].folder] })
	}
	t.addLabels(name, labels, classes)
	return nil
}

// checkNumbers returns an error if the number of a class folder is none of the values of an image
// in it. byFolder has these numbers, nil if the names are no numbers.
func (t *Table) checkNumbers(m *metadata, byFolder []int32) error {
	for row, values := range m.rows {
		f := t.list.files[row]
		if byFolder != nil && !slices.ContainsFunc(values, func(text string) bool {
			v, err := strconv.ParseInt(text, 10, 32)
			return err == nil && int32(v) == byFolder[f.folder]
		}) {
			return t.inFile(m.name, fault.New(fault.Malformed, "%s has the values %q, but is in the folder %s",
				t.list.path(f), values, t.list.folders[f.folder]).WithHint("correct the label or move the image"))
		}
	}
	return nil
}

// labelByName adds the column k of m, whose values are names of o.Classes.
func (t *Table) labelByName(m *metadata, k int, o source.ReadOptions) error {
	labels, names := make([]int32, len(m.rows)), make([]string, len(m.rows))
	for row, values := range m.rows {
		names[row] = values[k]
		labels[row] = int32(slices.Index(o.Classes, values[k]))
		if o.Classes != nil && (labels[row] < 0 || values[k] == "") {
			return t.inFile(m.name,
				fault.New(fault.Malformed, "%s has the label %q, expected the name of one of the %d classes",
					t.list.path(t.list.files[row]), values[k], len(o.Classes)).
					WithHint("add the name to the file of --classes"))
		}
	}
	if o.Classes == nil {
		return t.inFile(m.name, source.UnknownNames(names).InColumn(m.header[k]))
	}
	t.addLabels(m.header[k], labels, o.Classes)
	return nil
}

// namesByLabel returns the name of each label, which name returns for its rows. It returns nil if a
// label has two names, or if the names would not fit a list.
func namesByLabel(labels []int32, name func(row int) string) (names []string) {
	for row, label := range labels {
		if label < 0 || label >= maxClasses {
			return nil
		}
		if int(label) >= len(names) {
			names = append(names, make([]string, int(label)+1-len(names))...)
		}
		if names[label] != "" && names[label] != name(row) {
			return nil
		}
		names[label] = name(row)
	}
	return names
}

// addNumbers adds the columns of m that are wanted, which must have numbers: int32 if all are such
// integers, else float64, or the type of the column of the same name in like.
func (t *Table) addNumbers(m *metadata, wanted func(name string) bool, like []source.Column) error {
	for k, name := range m.header {
		if name == fileName || name == schema.ClassName || !wanted(name) {
			continue
		}
		c := source.Column{Name: name, DType: idx.Int32, Origin: t.columns[0].Origin}
		if i := slices.IndexFunc(like,
			func(other source.Column) bool { return other.Name == name && other.Scalar() }); i >= 0 {
			c.DType = like[i].DType
		} else if slices.ContainsFunc(m.rows, func(row []string) bool {
			_, err := strconv.ParseInt(row[k], 10, 32)
			return err != nil
		}) {
			c.DType = idx.Float64
		}
		size := c.DType.Size()
		data := make([]byte, len(m.rows)*size)
		for row, values := range m.rows {
			if !putNumber(data[row*size:(row+1)*size], c.DType, values[k]) {
				return t.inFile(m.name, fault.New(fault.Unsupported, "found %q, expected a number", values[k]).
					InColumn(name).InRow(int64(row)).WithHint("leave the column out with --columns, or write numbers"))
			}
		}
		t.columns, t.numbers = append(t.columns, c), append(t.numbers, data)
	}
	return nil
}

// putNumber stores the number in text as an element of type d. It reports whether d holds it.
func putNumber(dst []byte, d idx.DType, text string) bool {
	if !d.Float() {
		v, err := strconv.ParseInt(text, 10, 32)
		source.PutInt(dst, d, v)
		return err == nil && source.Int(d, dst, 0) == v
	}
	v, err := strconv.ParseFloat(text, 8*d.Size())
	if d == idx.Float32 {
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
	} else {
		binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
	}
	return err == nil
}
