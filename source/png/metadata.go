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

// metadataName is the file that Hugging Face's imagefolder looks for.
const metadataName = "metadata.csv"

// byteOrderMark is what Excel and Windows put before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Metadata is what metadata.csv says of labels.
type metadata struct {
	lines   []line           // nil if there is no file or no column of labels
	texts   bool             // there are labels that are no integers, and so none
	classes map[int32]string // names by label; nil if there is no such column, or a label has two names
}

// A line is the label of one file.
type line struct {
	file  string // with slashes
	label int32
}

// readMetadata reads metadata.csv, if there is one.
func (t *Table) readMetadata() (m metadata, err error) {
	f, err := t.root.Open(metadataName)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, t.inFile(metadataName, err)
	}
	defer f.Close() // only read from
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return m, err
	}
	text := bufio.NewReader(f)
	if mark, _ := text.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // before a quote too
		_, _ = text.Discard(len(byteOrderMark)) // it was seen
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

// read reads the lines behind the header. The arguments are the places of columns, class −1 if there is none.
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
		if err != nil { // names, as Hugging Face allows: they say no more than class folders do
			*m = metadata{texts: true}
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

// names are the names of the classes by label, or nil.
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

// byFile is the label of every file of l, whose order is that of the rows.
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
				WithHint("give each file a line there, or remove the one or the other")
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

// byFolder is the label of every folder of l.
func (m *metadata) byFolder(l *list) ([]int32, error) {
	all, met := make([]int32, len(l.folders)), make([]bool, len(l.folders))
	for _, line := range m.lines {
		k, ok := slices.BinarySearch(l.folders, path.Dir(line.file))
		if !ok {
			continue // a file that is not here
		}
		if met[k] && all[k] != line.label {
			return nil, fault.New(fault.Malformed, "%s gives the files of class folder %s the labels %d and %d",
				metadataName, l.folders[k], all[k], line.label).
				WithHint("name the class folders after labels, or leave one label in each")
		}
		all[k], met[k] = line.label, true
	}
	if k := slices.Index(met, false); k >= 0 {
		return nil, fault.New(fault.Malformed, "%s has no label for the class folder %s", metadataName, l.folders[k]).
			WithHint("give its files lines there, or remove it")
	}
	return all, nil
}
