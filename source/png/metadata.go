package png

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
)

// metadataName is the file that Hugging Face's imagefolder reads.
const metadataName = "metadata.csv"

// byteOrderMark is what Excel and other Windows programs write before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// metadata has the labels of metadata.csv.
type metadata struct {
	lines       []line           // nil if there is no metadata.csv or it has no labels
	notIntegers bool             // some labels are not integers, so none is used
	classes     map[int32]string // class names by label; nil if there is no such column or a label has two names
}

// A line is the label of one file.
type line struct {
	file  string // path within the root, separated by slashes
	label int32
}

func (t *Table) readMetadata() (m metadata, err error) {
	f, err := t.root.Open(metadataName)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, t.inFile(metadataName, err)
	}
	defer f.Close() // read-only: an error does not matter
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return m, err
	}
	text := bufio.NewReader(f)
	if mark, _ := text.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // encoding/csv would take it for part of the first name
		_, _ = text.Discard(len(byteOrderMark)) // cannot fail after Peek
	}
	r := csv.NewReader(text)
	r.ReuseRecord = true
	header, err := r.Read()
	if err == io.EOF {
		return m, nil
	}
	if err != nil {
		return m, t.inFile(metadataName, fault.New(fault.Malformed, "%v", err))
	}
	name, label, class := slices.Index(header, "file_name"), slices.Index(header, "label"), slices.Index(header, schema.ClassName)
	if name < 0 || label < 0 {
		return m, nil
	}
	if class >= 0 {
		m.classes = map[int32]string{}
	}
	if err := m.read(r, name, label, class); err != nil {
		return m, t.inFile(metadataName, err)
	}
	return m, nil
}

// read reads the lines after the header. name, label and class are indices of columns; class is −1
// if there is no such column.
func (m *metadata) read(r *csv.Reader, name, label, class int) error {
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fault.New(fault.Malformed, "%v", err)
		}
		v, err := strconv.ParseInt(strings.TrimSpace(fields[label]), 10, 32)
		if err != nil { // perhaps a class name, which Hugging Face allows: it gives no number
			*m = metadata{notIntegers: true}
			return nil
		}
		m.lines = append(m.lines, line{strings.Clone(fields[name]), int32(v)})
		if m.classes == nil || fields[class] == "" {
			continue
		}
		if known, ok := m.classes[int32(v)]; !ok && len(m.classes) < maxClasses {
			m.classes[int32(v)] = strings.Clone(fields[class])
		} else if known != fields[class] {
			m.classes = nil
		}
	}
}

// names returns the class names by label, or nil.
func (m *metadata) names() []string {
	var list []string
	for label, name := range m.classes {
		if label < 0 || label >= maxClasses {
			return nil
		}
		if int(label) >= len(list) {
			list = append(list, make([]string, int(label)+1-len(list))...)
		}
		list[label] = name
	}
	return list
}

// byFile returns the label of every file of l, in the order of the rows.
func (m *metadata) byFile(l *list) ([]int32, error) {
	slices.SortFunc(m.lines, func(a, b line) int { return strings.Compare(a.file, b.file) })
	all := make([]int32, len(l.files))
	for i, f := range l.files {
		name := l.path(f)
		k, ok := slices.BinarySearchFunc(m.lines, name, func(l line, name string) int {
			return strings.Compare(l.file, name)
		})
		if !ok {
			return nil, fault.New(fault.Malformed, "%s has no line for %s", metadataName, name).
				WithHint("give each file a line there, or remove the file or metadata.csv")
		}
		label := m.lines[k].label
		if k+1 < len(m.lines) && m.lines[k+1].file == name && m.lines[k+1].label != label {
			return nil, fault.New(fault.Malformed, "%s gives %s the labels %d and %d",
				metadataName, name, label, m.lines[k+1].label)
		}
		all[i] = label
	}
	return all, nil
}

// byFolder returns the label of every folder of l.
func (m *metadata) byFolder(l *list) ([]int32, error) {
	all, seen := make([]int32, len(l.folders)), make([]bool, len(l.folders))
	for _, line := range m.lines {
		k, ok := slices.BinarySearch(l.folders, path.Dir(line.file))
		if !ok {
			continue // not in a class folder
		}
		if seen[k] && all[k] != line.label {
			return nil, fault.New(fault.Malformed, "%s gives the files of class folder %s the labels %d and %d",
				metadataName, l.folders[k], all[k], line.label).
				WithHint("name the class folders after the labels, or keep one label in each")
		}
		all[k], seen[k] = line.label, true
	}
	if k := slices.Index(seen, false); k >= 0 {
		return nil, fault.New(fault.Malformed, "%s has no label for the class folder %s", metadataName, l.folders[k]).
			WithHint("give its files lines there, or remove the folder")
	}
	return all, nil
}
