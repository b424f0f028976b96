package png

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
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
	files   []string         // with slashes
	labels  []int32          // of the files; nil if there is no file or no column of labels
	texts   bool             // there are labels that are no integers, and so none
	classes map[int32]string // names by label; nil if there is no such column, or a label has two names
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
		m.files = append(m.files, strings.Clone(fields[name]))
		m.labels = append(m.labels, int32(v))
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
	sort.Sort(byName{m})
	all := make([]int32, len(l.files))
	for i, f := range l.files {
		name := l.path(f)
		k, ok := slices.BinarySearch(m.files, name)
		if !ok {
			return nil, fault.New(fault.Malformed, "%s has no line for %s", metadataName, name).
				WithHint("give each file a line there, or remove the one or the other")
		}
		if k+1 < len(m.files) && m.files[k+1] == name && m.labels[k+1] != m.labels[k] {
			return nil, fault.New(fault.Malformed, "%s gives %s the labels %d and %d", metadataName, name, m.labels[k], m.labels[k+1])
		}
		all[i] = m.labels[k]
	}
	return all, nil
}

// byFolder is the label of every folder of l.
func (m *metadata) byFolder(l *list) ([]int32, error) {
	all, met := make([]int32, len(l.folders)), make([]bool, len(l.folders))
	for i, name := range m.files {
		k, ok := slices.BinarySearch(l.folders, path.Dir(name))
		if !ok {
			continue // a file that is not here
		}
		if met[k] && all[k] != m.labels[i] {
			return nil, fault.New(fault.Malformed, "%s gives the files of class folder %s the labels %d and %d",
				metadataName, l.folders[k], all[k], m.labels[i]).WithHint("name the class folders after labels, or leave one label in each")
		}
		all[k], met[k] = m.labels[i], true
	}
	if k := slices.Index(met, false); k >= 0 {
		return nil, fault.New(fault.Malformed, "%s has no label for the class folder %s", metadataName, l.folders[k]).
			WithHint("give its files lines there, or remove it")
	}
	return all, nil
}

// byName sorts files with their labels.
type byName struct{ *metadata }

func (m byName) Len() int           { return len(m.files) }
func (m byName) Less(i, j int) bool { return m.files[i] < m.files[j] }
func (m byName) Swap(i, j int) {
	m.files[i], m.files[j] = m.files[j], m.files[i]
	m.labels[i], m.labels[j] = m.labels[j], m.labels[i]
}
