package png

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// findLabels adds the columns of labels and of other numbers: see the package comment.
func (t *table) findLabels(o source.ReadOptions) error {
	label := source.Column{Name: "label"} // or the expected one
	if i := (&schema.Schema{Columns: o.Like}).Label(); i >= 0 {
		label = o.Like[i]
	}
	m, err := t.readMetadata()
	if err != nil {
		return err
	}
	wants := o.Wants(slices.Concat([]string{t.columns[0].Name, label.Name}, m.names))
	var classes []string // named by the column class
	switch texts := m.texts[label.Name]; {
	case !wants(label.Name):
	case texts != nil:
		read := source.ReadOptions{}
		if classes = namesByLabel(texts, m.texts[schema.ClassName]); classes == nil && o.Like == nil {
			read.Classes = o.Classes
		}
		err = t.addIntegers(label.Name, texts, read, classes)
	case t.folders[0] == "":
		t.info.Notes = append(t.info.Notes, t.path+": images without labels, because there are no class folders")
	default:
		err = t.labelByFolder(label, o)
	}
	for _, name := range m.names {
		used := name == label.Name || name == schema.ClassName && classes != nil
		if err == nil && wants(name) && !used {
			err = t.addNumbers(name, m.texts[name], o.Like)
		}
	}
	return err
}

// labelByFolder adds the labels of the class folders. The expected column may have their names.
func (t *table) labelByFolder(expected source.Column, o source.ReadOptions) error {
	own, err := t.readClasses()
	if err != nil {
		return err
	}
	all := slices.Clone(t.folders) // of all splits
	for name, images := range o.Folders {
		if images {
			all = append(all, name)
		}
	}
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if len(positions(t.folders)) < len(t.folders) {
		return fault.New(fault.Malformed, "two of the class folders %s have the same name",
			strings.Join(t.folders, ", ")).WithHint("put the images of a class into one folder")
	}
	places, classes := numbersOf(all), o.Classes // labels by folder
	if classes == nil {
		classes = expected.Classes
	}
	empty := slices.IndexFunc(t.empty, func(folder string) bool { return !slices.Contains(all, folder) })
	switch {
	case own.Classes != nil && o.Classes == nil:
		classes = own.Classes
		places = positions(own.Folders, classes)
	case places != nil:
		_, bad := source.NewTexts(slices.Sorted(maps.Values(places)), o)
		if bad != nil && o.Like == nil && own.Classes == nil {
			return bad
		}
		classes = nil
	case classes != nil:
		places = positions(schema.FolderNames(classes), classes)
	case empty >= 0:
		return t.inFile(t.empty[empty], fault.New(fault.Malformed,
			"the folder has no images; some programs give it a label").
			WithHint("remove it, or list the names of all classes in a file: --classes FILE"))
	case len(all) == 1:
		return fault.New(fault.Usage, "found all images in one folder, %s, which may be a class or none", all[0]).
			WithHint("give that folder, if it is none, or else the names of all classes in a file: --classes FILE")
	default:
		classes, places = all, positions(all)
		var listed []string
		for label, name := range all {
			listed = append(listed, fmt.Sprintf("%s has label %d", name, label))
		}
		t.info.Warnings = append(t.info.Warnings, "class folders are numbered in the order of their names: "+
			strings.Join(listed, ", ")+"; for other numbers, list the names in their order in a file: --classes FILE")
	}
	labels := make([]string, len(t.files))
	for row, f := range t.files {
		var ok bool
		if labels[row], ok = places[norm.NFC.String(f.folder)]; !ok {
			return fault.New(fault.Malformed, "found the class folder %s, expected the name of one of the %d classes",
				f.folder, len(classes)).
				WithHint("name the class folders after the classes, or give their names with --classes FILE")
		}
	}
	return t.addIntegers(expected.Name, labels, source.ReadOptions{}, classes)
}

// numbersOf returns the numbers that folders are named after, nil if some have other names.
func numbersOf(folders []string) map[string]string {
	numbers := map[string]string{}
	for _, name := range folders {
		n, err := strconv.ParseUint(name, 10, 31)
		if err != nil {
			return nil
		}
		numbers[name] = strconv.FormatUint(n, 10)
	}
	return numbers
}

// positions returns the positions of the names in each list, normalized because HFS+ has other
// forms of names. Names of later lists take precedence.
func positions(lists ...[]string) map[string]string {
	places := map[string]string{}
	for _, names := range lists {
		for i, name := range names {
			places[norm.NFC.String(name)] = strconv.Itoa(i)
		}
	}
	return places
}

// readClasses returns the content of the hidden file that sink/png writes, if there is one.
func (t *table) readClasses() (own schema.ClassFolders, err error) {
	text, err := t.root.ReadFile(schema.ClassesFile)
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	return own, t.inFile(schema.ClassesFile, fault.New(fault.Malformed, "").Because(err).
		WithHint("remove the file, and give the class names with --classes FILE"))
}

// A metadata has the columns of schema.MetadataFile but for file_name, or none if there is no file.
type metadata struct {
	names []string
	texts map[string][]string // by name, a text for each row of the table
}

// otherMetadata matches the names of other forms of metadata.csv, ofDuckDB those that DuckDB reads.
var (
	otherMetadata = text.Pattern(`\.(csv|tsv|json|jsonl|ndjson|parquet|arrow|feather|xlsx)(\.(gz|zst|bz2|xz))?$`)
	ofDuckDB      = text.Pattern(`\.(csv|tsv|json|jsonl|ndjson|parquet)(\.(gz|zst))?$`)
)

// readMetadata reads metadata.csv. Its other forms are errors.
func (t *table) readMetadata() (m metadata, err error) {
	names, _ := fs.Glob(t.root.FS(), "metadata.*") // the pattern is valid
	for _, name := range names {
		if name == schema.MetadataFile || !otherMetadata().MatchString(name) {
			continue
		}
		hint := "make it, and move this away"
		if ofDuckDB().MatchString(name) {
			from, to := filepath.Join(t.path, name), filepath.Join(t.path, schema.MetadataFile)
			hint += ": duckdb -c " + text.Quote(fmt.Sprintf("COPY (FROM '%s') TO '%s'", from, to))
		}
		return m, t.inFile(name, fault.New(fault.Unsupported, "labels are read from %s only", schema.MetadataFile).
			WithHint("%s", hint))
	}
	text, err := t.root.ReadFile(schema.MetadataFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, t.inFile(schema.MetadataFile, err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the mark that Excel writes before UTF-8
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err == nil && len(lines) > 0 {
		m, err = t.arrange(lines[0], lines[1:])
	}
	if err != nil {
		return m, t.inFile(schema.MetadataFile, fault.New(fault.Malformed, "").Because(err))
	}
	return m, nil
}

// arrange returns the columns of lines in the order of the rows.
func (t *table) arrange(names []string, lines [][]string) (metadata, error) {
	m := metadata{texts: map[string][]string{}}
	key := slices.Index(names, "file_name")
	if key < 0 {
		return m, fault.New(fault.Malformed, "found the columns %s, expected file_name and label",
			strings.Join(names, ", ")).WithHint("rename its columns, or move the file away to read the images alone")
	}
	for i, name := range names {
		if name == "" || name == t.columns[0].Name || slices.Contains(names[:i], name) {
			return m, fault.New(fault.Malformed, "column %d has the name %q, expected one of its own", i, name).
				WithHint("rename or remove the column; pandas leaves out row numbers with to_csv(…, index=False)")
		}
	}
	byFile := make(map[string][][]string, len(lines))
	for _, line := range lines {
		name := path.Clean(line[key])
		byFile[name] = append(byFile[name], line)
	}
	for _, f := range t.files {
		found := byFile[f.path()]
		if delete(byFile, f.path()); len(found) != 1 {
			return m, fault.New(fault.Malformed, "found %s for %s, expected 1", text.Count(len(found), "line"),
				f.path()).WithHint("give each image one line, or move the images or this file away")
		}
		for i, text := range found[0] {
			m.texts[names[i]] = append(m.texts[names[i]], text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		return m, fault.New(fault.Malformed, "found a line for %s, but no such image", name).
			WithHint("the folder may be incomplete: download it again, or remove the line")
	}
	m.names = slices.Delete(names, key, key+1)
	return m, nil
}

// namesByLabel returns the name of each label. It returns nil if there are no names, if a label has
// two, or if one needs more than 20 bits, with which the names would fill the memory.
func namesByLabel(labels, names []string) (byLabel []string) {
	for row, name := range names {
		label, err := strconv.ParseUint(labels[row], 10, 20)
		if name == "" {
			continue
		}
		if err != nil {
			return nil
		}
		byLabel = append(byLabel, make([]string, max(0, int(label)+1-len(byLabel)))...)
		if other := byLabel[label]; other != "" && other != name {
			return nil
		}
		byLabel[label] = name
	}
	return byLabel
}

// addIntegers adds a column of the integers that the texts are, of which classes has the names, or
// of the labels that o gives the texts.
func (t *table) addIntegers(name string, texts []string, o source.ReadOptions, classes []string) error {
	form, unknown := source.NewTexts(texts, o)
	if unknown != nil {
		return t.inFile(schema.MetadataFile, unknown.InColumn(name))
	}
	if form.Names != nil {
		classes = form.Names
	}
	return t.add(source.Column{Name: name, DType: form.DType, Classes: classes}, texts, form.Put)
}

// addNumbers adds a column of integers, or else of floats: of the type of the column of this name
// in like, or int32 or float64.
func (t *table) addNumbers(name string, texts []string, like []source.Column) error {
	d := idx.Int32
	if i := slices.IndexFunc(like, func(c source.Column) bool { return c.Name == name && c.Scalar() }); i >= 0 {
		d = like[i].DType
	}
	if !d.Float() {
		if t.addIntegers(name, texts, source.ReadOptions{DType: d}, nil) == nil {
			return nil
		}
		d = idx.Float64
	}
	return t.add(source.Column{Name: name, DType: d}, texts, func(dst []byte, text string) *fault.Error {
		if source.PutText(d, dst, []byte(text)) {
			return nil
		}
		return fault.New(fault.Unsupported, "found %q, expected a number that %v holds", text, d).
			WithHint("leave the column out with --columns, or write numbers")
	})
}

// add adds the column c of the texts of all rows, each of which put stores as an element.
func (t *table) add(c source.Column, texts []string, put func(dst []byte, text string) *fault.Error) error {
	size := c.DType.Size()
	data := make([]byte, len(texts)*size)
	for row, text := range texts {
		if bad := put(data[row*size:], text); bad != nil {
			return t.inFile(schema.MetadataFile, bad.InColumn(c.Name).InRow(int64(row)))
		}
	}
	c.Origin = t.columns[0].Origin
	t.columns, t.numbers = append(t.columns, c), append(t.numbers, data)
	return nil
}
