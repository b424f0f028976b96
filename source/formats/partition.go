package formats

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// pyarrow, pandas, polars, DuckDB and Spark write folders partitioned in the style of Hive: all
// rows of label=7/part-0.parquet have 7 in the column label, whether or not the file itself has
// that column. The values must be integers.

// nullPartition is the value of the folder of rows without a value, in the style of Hive.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// partitionKey returns the column and the value in the name of a folder. At the top of the tree,
// split=train is not a key: that folder is a split, with a table of its own.
func partitionKey(name string, top bool) (key, value string, ok bool) {
	key, value, ok = strings.Cut(name, "=")
	return unescaped(key), unescaped(value), ok && key != "" && (key != "split" || !top)
}

// unread has the columns in the names of the folder dir and of the folders above it, which are not
// read if dir is given alone.
type unread struct {
	dir   string
	keys  []string
	whole string // the partitioned folder that has these columns
}

func unreadKeys(dir string) unread {
	u := unread{dir: strings.TrimRight(dir, "/")}
	u.whole = u.dir
	for {
		key, value, ok := partitionKey(source.Base(u.whole), true)
		if _, err := strconv.ParseInt(value, 10, 32); err != nil || !ok {
			return u
		}
		u.keys, u.whole = append(u.keys, key), strings.TrimRight(source.Above(u.whole), "/")
	}
}

// unescaped decodes the percent-encoding of pyarrow and Spark for special characters in a path.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// A partitions collects the files of a partitioned folder while the folder is walked.
type partitions struct {
	files   source.Files
	table   Table
	folders int    // number of folders visited
	err     error  // the first error; it is reported only if there are tables
	stray   string // a folder or file that would be ignored; an error only if there are tables
}

// findPartitions finds the table in dir, whose entries are l, if the names of the folders in it are
// values of a column. There is none if they are not, or hold no tables.
func findPartitions(files source.Files, dir string, l listing) ([]Table, error) {
	if !slices.ContainsFunc(l.folders, func(name string) bool { _, _, ok := partitionKey(name, true); return ok }) {
		return nil, nil
	}
	p := &partitions{files: files, table: Table{Name: stem(dir), path: dir, values: map[string][]int64{}}}
	if err := p.visit(dir, l, nil); err != nil {
		return nil, err
	}
	switch {
	case len(p.table.Paths) == 0:
		return nil, nil
	case p.stray != "":
		p.refuse(dir, fault.New(fault.Usage, "found %s beside partitions, such as %s, expected only folders of tables", p.stray, p.table.Paths[0]).
			WithHint("move it away, or give one of the folders"))
	}
	return []Table{p.table}, p.err
}

// refuse sets p.err to err, with path added, unless it is set already.
func (p *partitions) refuse(path string, err error) {
	if p.err == nil {
		p.err = fault.In(path, err)
	}
}

// maxPartitions is the largest number of visited folders: links may lead to the same folder again
// and again. pyarrow writes at most 1,024 by default.
const maxPartitions = 10_000

// visit collects the files of dir, whose entries are l. values are those in the path of dir.
func (p *partitions) visit(dir string, l listing, values []int64) error {
	if p.folders++; p.folders > maxPartitions {
		return fault.New(fault.Usage, "found more than %d folders, expected fewer partitions", maxPartitions).In(dir).WithHint("give one of the folders")
	}
	tables, err := inFiles(dir, l.files)
	if err != nil && p.err == nil {
		p.err = err
	}
	if len(values) > 0 && (len(l.folders) == 0 || len(tables) > 0) {
		p.leaf(dir, l, tables, values)
		return nil
	}
	for _, name := range l.files {
		_, known := byExtension(name)
		if _, _, key := partitionKey(name, false); known || key { // a broken link may have the name of a partition
			p.stray = cmp.Or(p.stray, "the file "+source.Under(dir, name))
		}
	}
	if l.image != "" || l.idx {
		p.stray = cmp.Or(p.stray, "other files in "+dir)
	}
	inner := map[string]int64{}
	for _, name := range l.folders {
		key, text, ok := partitionKey(name, len(values) == 0)
		if len(p.table.keys) == len(values) && len(p.table.Paths) == 0 && ok && !slices.Contains(p.table.keys, key) {
			p.table.keys = append(p.table.keys, key)
		}
		if len(p.table.keys) <= len(values) || !ok || key != p.table.keys[len(values)] { // also a link to a folder further up, as its key is not the next one
			p.stray = cmp.Or(p.stray, "the folder "+source.Under(dir, name))
			continue
		}
		inner[name] = p.value(dir, name, key, text)
	}
	names := slices.SortedFunc(maps.Keys(inner), func(a, b string) int { return cmp.Or(cmp.Compare(inner[a], inner[b]), cmp.Compare(a, b)) })
	for _, name := range names {
		path := source.Under(dir, name)
		l, err := list(p.files, path, 0)
		if err == nil {
			err = p.visit(path, l, append(slices.Clip(values), inner[name]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// value parses text, the value in the name of a folder in dir.
func (p *partitions) value(dir, name, key, text string) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	var wrong *fault.Error
	switch {
	case text == nullPartition:
		wrong = fault.New(fault.Malformed, "found rows without a value of %s, expected an integer", key).
			WithHint("fill in the values before partitioning the table, or move the folder away")
	case err != nil:
		wrong = fault.New(fault.Malformed, "found %q for the column %s, expected an integer", text, key).
			WithHint("replace the text by numbers before partitioning the table by %s, or convert the folders one at a time, without the column", key)
	case v < math.MinInt32 || v > math.MaxInt32:
		wrong = fault.New(fault.Malformed, "found %d for the column %s, expected a value of the type int32", v, key).
			WithHint("partition the table by another column: idxport uses the types of IDX, whose widest integer is int32")
	default:
		return v
	}
	p.refuse(source.Under(dir, name), wrong)
	return v
}

// leaf adds the tables in the files of dir, a partition whose entries are l.
func (p *partitions) leaf(dir string, l listing, tables []Table, values []int64) {
	if len(l.folders) > 0 {
		p.stray = cmp.Or(p.stray, "the folder "+source.Under(dir, l.folders[0]))
	}
	if l.image != "" || l.idx || l.photo != "" || len(tables) == 0 && len(l.files) > 0 {
		p.stray = cmp.Or(p.stray, "other files in "+dir)
		tables = slices.DeleteFunc(tables, func(t Table) bool { return filepath.Base(t.path) == metadataName }) // of the images
	}
	var paths []string
	for _, t := range tables {
		if f := p.table.Format.Name; f != "" && f != t.Format.Name || t.Format.OneColumn {
			p.refuse(dir, fault.New(fault.Usage, "found files in the format %s, expected %s", t.Format.Name, cmp.Or(f, "tables")).
				WithHint("write the table again in one format"))
		}
		p.table.Format = t.Format
		paths = append(paths, t.Paths...)
	}
	if len(paths) > 0 && len(values) != len(p.table.keys) {
		p.refuse(dir, fault.New(fault.Usage, "found a partition by %s, expected one by %s", strings.Join(p.table.keys[:len(values)], ", "), strings.Join(p.table.keys, ", ")).
			WithHint("move away the folders that do not belong to the table"))
	}
	slices.SortStableFunc(paths, byNumbers)
	for _, path := range paths {
		p.table.values[path] = values
	}
	p.table.Paths = append(p.table.Paths, paths...)
}

// openPartitions opens t, a partitioned folder, as one table.
func openPartitions(t Table, o source.ReadOptions) (source.Table, error) {
	keys := make([]source.Column, len(t.keys))
	for i, name := range t.keys {
		keys[i] = source.Column{Name: name, DType: t.narrowest(i, o.DType), Origin: filepath.Base(t.path)}
	}
	like, added := o.Like, 0
	open := func(path string, o source.ReadOptions) (source.Table, error) {
		o.Like = like
		inner, err := t.Format.open(path, o)
		if err != nil {
			return nil, err
		}
		p, err := source.WithPartition(inner, path, keys, t.values[path])
		if err != nil {
			return nil, errors.Join(err, inner.Close())
		}
		like, added = inner.Columns(), len(p.Columns())-len(inner.Columns()) // the columns that the other files should have
		return p, nil
	}
	paths, rows, err := countFiles(open, t.Paths, o)
	if err != nil {
		return nil, err
	}
	c, err := openChain(open, paths, t.path, o)
	if err != nil {
		return nil, err
	}
	c.rows = rows
	for _, key := range c.columns[len(c.columns)-added:] {
		c.notes = append(c.notes, fmt.Sprintf("%s: the column %s is read from the names of the folders", t.path, key.Name))
	}
	return c, nil
}

// narrowest returns the type of key i: the requested one if it holds all values, else the first
// that does.
func (t Table) narrowest(i int, asked idx.DType) idx.DType {
	smallest, largest := int64(math.MaxInt64), int64(math.MinInt64)
	for _, values := range t.values {
		smallest, largest = min(smallest, values[i]), max(largest, values[i])
	}
	for _, d := range []idx.DType{asked, idx.Uint8, idx.Int8, idx.Int16} {
		if !d.Valid() || d.Float() {
			continue
		}
		if from, to := d.Limits(); from <= smallest && largest <= to {
			return d
		}
	}
	return idx.Int32
}

// countFiles adds up the rows of the files all, or returns −1 if the files do not record their
// rows. Files that fail with [columnar.ErrNoRows], because their types are unknown without rows,
// are not among paths.
func countFiles(open func(string, source.ReadOptions) (source.Table, error), all []string, o source.ReadOptions) (paths []string, rows int64, err error) {
	for _, path := range all {
		t, err := open(path, o)
		if errors.Is(err, columnar.ErrNoRows) && len(all) > 1 {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		n := t.Rows()
		if err := t.Close(); err != nil {
			return nil, 0, err
		}
		if n < 0 {
			return all, -1, nil
		}
		paths, rows = append(paths, path), rows+n
	}
	if paths == nil {
		paths = all[:1] // opening it reports that it has no rows
	}
	return paths, rows, nil
}
