package png

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	names, texts, err := t.readMetadata()
	if err != nil {
		return err
	}
	numbers := schema.LabelsByNumber(t.folders)
	isNumber := func(f file, label string) bool { return label != "" && label == numbers[f.folder] }
	if len(names) > 0 && texts[label.Name] == nil && slices.EqualFunc(t.files, texts[names[0]], isNumber) {
		label.Name, label.Label = names[0], true // which sink/png writes first
	}
	wants := o.Wants(slices.Concat([]string{t.columns[0].Name, label.Name}, names))
	hasNoWord := func(f file) bool { return f.word() == "" }
	hasOther := func(f file) bool { return f.word() != t.files[0].word() }
	var classes []string // named by the column class
	switch labels := texts[label.Name]; {
	case !wants(label.Name), labels == nil && t.folders[0] == "" && slices.ContainsFunc(names, text.NamesLabels): // y
	case labels != nil:
		read := source.ReadOptions{}
		if classes = namesByLabel(labels, texts[schema.ClassName]); classes == nil && o.Like == nil {
			read.Classes = o.Classes
		}
		err = t.addIntegers(source.Column{Name: label.Name, Classes: classes, Label: label.Label}, labels, read)
		if err != nil && read.Classes == nil && strings.Contains(strings.Join(labels, ""), ".") &&
			t.addNumbers(label.Name, labels, o.Like) == nil { // fractions
			err = nil
		}
	case t.folders[0] == "" && t.beside != "":
		err = t.inFile(t.beside, fault.New(fault.Usage, "found what may be labels, expected %s", schema.MetadataFile).
			WithHint("write it with the columns file_name and label; or move this file away, or add --columns image"))
	case t.folders[0] == "" && strings.Contains(t.files[len(t.files)-1].name, `\`): // no number, so last
		err = t.inFile(t.files[len(t.files)-1].name, fault.New(fault.Malformed, "found a file, expected a folder").
			WithHint("unpack the archive again with a program that knows those of Windows: unzip, 7z"))
	case t.folders[0] == "" && !slices.ContainsFunc(t.files, hasNoWord) && slices.ContainsFunc(t.files, hasOther):
		err = fault.New(fault.Usage, "names such as %s may begin with labels", t.files[0].name).WithHint("if not, "+
			`add --columns image; else make class folders: (cd %s && for f in ./*[0-9]*; do d="${f%%%%[0-9]*}"; `+
			`d="${d%%(}"; d="${d%%[-._ ]}"; mkdir -p "$d"; mv "$f" "$d"; done)`, text.Path(t.path))
	case t.folders[0] == "":
		t.info.Notes = append(t.info.Notes, t.path+": images without labels, because there are no class folders")
	default:
		err = t.labelByFolder(label, o)
	}
	for _, name := range names {
		if err == nil && wants(name) && name != label.Name && (name != schema.ClassName || classes == nil) {
			err = t.addNumbers(name, texts[name], o.Like)
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
	others := slices.DeleteFunc(slices.Collect(maps.Keys(o.Folders)), func(s string) bool { return !o.Folders[s] })
	names := schema.LabelsByName(others, t.folders)        // normalized, because HFS+ has other forms of names
	all, isMoved := slices.Sorted(maps.Keys(names)), false // of all splits
	if o.Alone != "" {
		alone := slices.Sorted(maps.Keys(schema.LabelsByName(t.folders)))
		all, isMoved = alone, !slices.Equal(alone, all[:len(alone)])
	}
	_, listed := o.Folders[schema.ClassesFile]
	places, classes := schema.LabelsByNumber(all), o.Classes // labels by folder
	empty := slices.DeleteFunc(t.empty, func(name string) bool {
		files, _ := fs.Glob(t.root.FS(), name+"/[^.]*") // of a number; nothing is lost without any
		isLost := schema.LabelsByNumber([]string{name}) != nil && files != nil
		return names[norm.NFC.String(name)] != "" || places != nil && !isLost
	})
	if classes == nil {
		classes = expected.Classes
	}
	switch {
	case own.Classes != nil && (o.Classes == nil || slices.Equal(o.Classes, own.Classes)):
		classes, places = own.Classes, schema.LabelsByName(own.Classes, own.Folders)
	case listed && classes == nil:
		return fault.New(fault.Usage, "another split has its labels in a file, and these class folders have none").
			WithHint("list all class names in a file: --classes FILE; or copy %s, if it has them", schema.ClassesFile)
	case len(empty) > 0 && classes == nil:
		return t.inFile(empty[0], fault.New(fault.Malformed, "the folder has no images; some programs give it a label").
			WithHint("move it away, or list the names of all classes in a file: --classes FILE"))
	case places != nil:
		labels := schema.LabelsByName(schema.FolderNames(o.Classes), o.Classes)
		for _, folder := range all {
			if label, ok := labels[folder]; ok && label != places[folder] && o.Like == nil {
				return fault.New(fault.Usage, "the class folder %s may be label %s or, by its name, %s", folder,
					places[folder], label).WithHint("if it is a label, leave out --classes; or rename the folder")
			}
		}
		classes = nil
	case own.Classes != nil: // which has the names of folders, as the list has the numbers of names
		places = schema.LabelsByName(classes)
		byName := maps.Clone(places)
		for i, name := range own.Classes[:min(len(own.Classes), len(own.Folders))] {
			places[norm.NFC.String(own.Folders[i])] = byName[norm.NFC.String(name)]
		}
	case classes != nil:
		places = schema.LabelsByName(schema.FolderNames(classes), classes)
	case isMoved:
		return fault.New(fault.Usage, "the class folders have other numbers among those of the other splits").
			WithHint("read all: idxport convert %s -o OUT; or list these classes: --classes FILE", text.Path(o.Alone))
	default:
		if err := t.inOrder(all, o); err != nil {
			return err
		}
		classes, places = all, schema.LabelsByName(all)
	}
	t.info.Classes = o.Classes != nil && classes != nil // else folders are named after numbers
	return t.addLabels(expected.Name, places, classes)
}

// addLabels adds a column of the labels of the class folders, by whose names places has them.
func (t *table) addLabels(name string, places map[string]string, classes []string) error {
	labels, folders := make([]string, len(t.files)), map[string]string{} // folders by label
	for row, f := range t.files {
		folder := norm.NFC.String(f.folder)
		label := cmp.Or(places[folder], places[strings.TrimSpace(folder)]) // --classes has no spaces around
		if label == "" {
			return fault.New(fault.Malformed, "found the class folder %s, expected the name of a class (%d known)",
				f.folder, len(classes)).WithHint("name folders after the classes, or give their names: --classes FILE")
		} else if other := cmp.Or(folders[label], f.folder); other != f.folder {
			return fault.New(fault.Malformed, "the class folders %s and %s both have label %s", other, f.folder, label).
				WithHint("put the images of a class into one folder")
		}
		labels[row], folders[label] = label, f.folder
	}
	return t.addIntegers(source.Column{Name: name, Classes: classes}, labels, source.ReadOptions{})
}

// inOrder warns that the class folders are numbered in the order of their names, all of which are
// given, or returns an error if other programs may not do so or a name is or has another number.
func (t *table) inOrder(all []string, o source.ReadOptions) error {
	var lines []string
	byNumber := slices.SortedFunc(slices.Values(all), source.CompareNames) // class_2 before class_10
	isPlain := func(name string) bool { return !strings.ContainsAny(name, "0123456789") }
	for label, name := range all {
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(name), ".0"), 10, 64)
		switch isNumber := !errors.Is(err, strconv.ErrSyntax); {
		case !utf8.ValidString(name):
			return fault.New(fault.Malformed, "the name of the class folder %s is not UTF-8", name).
				WithHint("rename the folders and their files: convmv -f WINDOWS-1252 -t UTF-8 -r --notest FOLDER")
		case len(all) == 1 || slices.Contains(strings.Fields("images image imgs masks docs"), strings.ToLower(name)):
			return fault.New(fault.Usage, "found images in the folder %s, which may be a class or none", name).
				WithHint("if it is no class, give it alone or move it away; else list the classes: --classes FILE")
		case isNumber && n != int64(label), name != byNumber[label] && !slices.ContainsFunc(all, isPlain):
			at := name
			if !isNumber {
				at = strconv.Itoa(slices.Index(byNumber, name))
			}
			return fault.New(fault.Usage, "the class folder %s may be label %s or, by the order of names, %d", name, at,
				label).WithHint("list the names of labels 0, 1, and so on, in this order, in a file: --classes FILE")
		}
		lines = append(lines, fmt.Sprintf("%s has label %d", name, label))
	}
	t.info.Warnings = append(t.info.Warnings, "class folders are numbered in the order of their names: "+
		strings.Join(lines, ", ")+"; for other numbers, list the names in their order in a file: --classes FILE")
	return cmp.Or(checkLists(t.path, all, o), checkLists(filepath.Join(t.path, ".."), all, o))
}

// listLine matches a name in a list of classes, and the number or bullet by which it is sorted.
var listLine = text.Pattern(`(?m)^[\x{feff}\t "']*(?:(\d+|[-*])["'.)]?[\t :,;=]+)?[\["']*(.*?)["']*` +
	`(?:[\t ]*[\t:,;=] *(\d+))?[\t\r ]*$`)
var headLines = text.Pattern(`(?i)^\x{feff}?((#.*|(label|class)?[ _]?(label|class|name|categor(y|ie))(e?s)?:?\s*)\n)+`)
var jsonSigns = text.Pattern(`^\s*\[|[{}\],]+\s*`) // between entries of JSON

// labelsIn returns the labels of class folders by their places in a list, sorted by its numbers, or
// nil if the text lacks a folder, or lists images, which repeat one, or counts, which exceed 1.
func labelsIn(text []byte, folders []string) map[string]string {
	if json.Valid(text) {
		text = bytes.TrimSpace(jsonSigns().ReplaceAll(text, []byte("\n")))
	} else if !slices.ContainsFunc(folders, func(name string) bool { return headLines().MatchString(name + "\n") }) {
		text = headLines().ReplaceAll(text, nil)
	}
	type entry struct{ number, name string }
	var list []entry
	for _, m := range listLine().FindAllStringSubmatch(string(text), 1<<16) { // --classes has no more
		list = append(list, entry{cmp.Or(m[1], m[3], "~"), m[2]}) // "~" is after all numbers
	}
	slices.SortStableFunc(list, func(a, b entry) int { return source.CompareNames(a.number, b.number) })
	var names, cleaned []string
	times := map[string]int{}
	for _, e := range slices.Compact(list) {
		names, cleaned = append(names, e.name), append(cleaned, schema.CleanName(e.name))
		times[e.name]++
	}
	labels := schema.LabelsByName(cleaned, names)
	isOther := func(folder string) bool { return labels[folder] == "" || times[folder] > 1 }
	if first, _ := strconv.Atoi(list[0].number); first > 1 || slices.ContainsFunc(folders, isOther) {
		return nil
	}
	return labels
}

// checkLists returns an error if a text in dir, of inputs, lists folders but not as labels 0, 1, …
func checkLists(dir string, folders []string, o source.ReadOptions) error {
	files, _ := fs.Glob(os.DirFS(dir), "[^.]*")
	left := int64(2e6) // bytes that are read
	for _, name := range slices.DeleteFunc(files, func(name string) bool { return !MayLabel(name) || o.Like != nil }) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > left {
			continue
		}
		content, _ := os.ReadFile(path)
		left -= int64(len(content))
		labels := labelsIn(content, folders)
		for label, folder := range folders {
			if found := labels[folder]; labels != nil && found != strconv.Itoa(label) {
				return fault.New(fault.Usage, "the class folder %s may be label %s, as in %s, or, by the order of "+
					"names, %d", folder, found, path, label).WithHint("give a list of names alone, in the order "+
					"of labels: --classes %s, if it is one; or move this file away", text.Path(path))
			}
		}
	}
	return nil
}

// readClasses returns the content of the hidden file that sink/png writes, if there is one.
func (t *table) readClasses() (own schema.ClassFolders, err error) {
	text, err := t.root.ReadFile(schema.ClassesFile)
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return own, t.inFile(schema.ClassesFile, fault.New(fault.Malformed, "").Because(err).
			WithHint("remove the file, and give the class names with --classes FILE"))
	}
	return own, nil
}

// readMetadata returns the columns of schema.MetadataFile but for file_name: their names, and a
// text for each row of the table by the name. If there is no file, no image may be a mask.
func (t *table) readMetadata() (names []string, texts map[string][]string, err error) {
	text, err := t.root.ReadFile(schema.MetadataFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, t.checkMasks()
	} else if err != nil {
		return nil, nil, t.inFile(schema.MetadataFile, err)
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll() // Excel's mark
	if !utf8.Valid(text) {
		err = fault.New(fault.Malformed, "the file is not UTF-8").
			WithHint("convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE.csv >utf8.csv (or -f UTF-16), and put that there")
	} else if err == nil && lines == nil {
		err = fault.New(fault.Malformed, "the file is empty, expected the columns file_name and label")
	} else if err == nil {
		names, texts, err = t.arrange(lines[0], lines[1:])
	}
	if err != nil {
		err = t.inFile(schema.MetadataFile, fault.New(fault.Malformed, "").Because(err))
	}
	return names, texts, err
}

// arrange returns the columns of lines, but for file_name, in the order of the rows.
func (t *table) arrange(names []string, lines [][]string) ([]string, map[string][]string, error) {
	texts := map[string][]string{}
	key := slices.IndexFunc(names, func(name string) bool { return strings.TrimSpace(name) == "file_name" })
	if key < 0 {
		return nil, nil, fault.New(fault.Malformed, "found the columns %s, expected file_name and label",
			strings.Join(names, ", ")).WithHint("rename its columns, or move the file away to read the images alone")
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		if names[i] = name; name == "" || name == t.columns[0].Name || slices.Contains(names[:i], name) {
			return nil, nil, fault.New(fault.Malformed, "column %d has the name %q, expected another", i+1, name).
				WithHint("rename or remove the column; pandas leaves out row numbers with to_csv(…, index=False)")
		}
	}
	byFile := make(map[string][][]string, len(lines))
	for _, line := range lines {
		name := norm.NFC.String(path.Clean(strings.ReplaceAll(line[key], `\`, "/"))) // HFS+ has another form
		byFile[name] = append(byFile[name], line)
	}
	for _, f := range t.files {
		name := norm.NFC.String(strings.ReplaceAll(f.path(), `\`, "/"))
		found := byFile[name]
		if delete(byFile, name); len(found) != 1 {
			return nil, nil, fault.New(fault.Malformed, "found %s for %s, expected 1", text.Count(len(found), "line"),
				f.path()).WithHint("give each image one line, with its name as above, or move images or this file away")
		}
		for i, text := range found[0] {
			texts[names[i]] = append(texts[names[i]], text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		return nil, nil, fault.New(fault.Malformed, "found a line for %s, but no such image", name).
			WithHint("the folder may be incomplete: download it again, or remove the line")
	}
	return slices.Delete(names, key, key+1), texts, nil
}

// namesByLabel returns the name of each label. It returns nil if there are no names, if a label has
// two, or if one needs more than 20 bits, with which the names would fill the memory.
func namesByLabel(labels, names []string) (byLabel []string) {
	for row, name := range names {
		label, err := strconv.ParseUint(labels[row], 10, 20)
		if name == "" {
			continue
		} else if err != nil {
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

// addIntegers adds the column c of the integers that the texts are, or of their labels by o.
func (t *table) addIntegers(c source.Column, texts []string, o source.ReadOptions) error {
	form, unknown := source.NewTexts(texts, o)
	if unknown != nil {
		return t.inFile(schema.MetadataFile, unknown.InColumn(c.Name))
	}
	if c.DType = form.DType; form.Names != nil {
		c.Classes, t.info.Classes = form.Names, true
	}
	return t.add(c, texts, form.Put)
}

// addNumbers adds a column of the type of its namesake in like, or of int32, or else of float64.
func (t *table) addNumbers(name string, texts []string, like []source.Column) error {
	d := idx.Int32
	if i := slices.IndexFunc(like, func(c source.Column) bool { return c.Name == name && c.Scalar() }); i >= 0 {
		d = like[i].DType
	}
	if !d.Float() && t.addIntegers(source.Column{Name: name}, texts, source.ReadOptions{DType: d}) == nil {
		return nil
	} else if !d.Float() {
		d = idx.Float64
	}
	return t.add(source.Column{Name: name, DType: d}, texts, func(dst []byte, text string) *fault.Error {
		if source.PutText(d, dst, []byte(text)) {
			return nil
		}
		return fault.New(fault.Unsupported, "found %q, expected a number that %v holds", text, d).
			WithHint("leave the column out with --columns, or write numbers; names of classes are in the column label")
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
