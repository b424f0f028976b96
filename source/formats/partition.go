package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
)

// pyarrow, pandas, polars, DuckDB and Spark write folders partitioned in the style of Hive: all
// rows of label=7/part-0.parquet have 7 in the column label. Such folders are refused, with a
// command that writes them as one file.

// partitionKey returns the column in the name of a folder of partitions. split=train is no
// partition: that folder is a split, with a table of its own.
func partitionKey(name string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(name, "=")
	return key, value, ok && key != "" && key != "split"
}

// refusePartitions returns an error if a folder in dir, whose entries are l, is a partition.
func refusePartitions(files source.Files, dir string, l listing) error {
	for _, name := range l.folders {
		key, _, ok := partitionKey(name)
		if !ok {
			continue
		}
		if f, file := firstTable(files, source.Under(dir, name), 0); file != "" {
			return fault.New(fault.Unsupported,
				"found %s, expected one table: the column %s is in the names of the folders",
				file, key).In(dir).WithHint("%s", writeAsOne(f.Name, dir))
		}
	}
	return nil
}

// firstTable returns a table in the folder dir or in partitions of it, or "" if there is none.
func firstTable(files source.Files, dir string, depth int) (Format, string) {
	const deepest = 8 // links may lead in circles
	l, err := list(files, dir, maxExamined)
	if err != nil || depth > deepest || l.image != "" || l.idx {
		return Format{}, "" // what is wrong with it is reported by its reader
	}
	for _, name := range l.files {
		if f, ok := byExtension(name); ok && !f.OneColumn {
			return f, source.Under(dir, name)
		}
	}
	for _, name := range l.folders {
		if _, _, ok := partitionKey(name); ok {
			return firstTable(files, source.Under(dir, name), depth+1)
		}
	}
	return Format{}, ""
}

// writeAsOne returns a command that writes the partitioned folder dir, with files of a format, as
// one file in the current folder.
func writeAsOne(format, dir string) string {
	dir = strings.TrimRight(dir, "/")
	switch format {
	case "arrow":
		return "python -c " + shell.Quote(fmt.Sprintf(`import pyarrow.dataset as d, pyarrow.feather as f; `+
			`f.write_feather(d.dataset(%q, format="feather", partitioning="hive").to_table(), %q)`,
			dir, stem(dir)+".arrow"))
	case "csv":
		format = "csv*" // .csv.gz too
	}
	statement := fmt.Sprintf("COPY (FROM '%s/**/*.%s') TO '%s.parquet'", sql(dir), format, sql(stem(dir)))
	return duckdb(statement)
}

// refuseKey returns an error if a column that the table does not have is in the name of its folder.
func (t Table) refuseKey(columns []source.Column) error {
	key, _, ok := partitionKey(source.Base(t.folder))
	if !ok || slices.ContainsFunc(columns, func(c source.Column) bool { return c.Name == key }) {
		return nil
	}
	return fault.New(fault.Unsupported, "the column %s is in the name of the folder, and not in its files", key).
		In(t.folder).WithHint("choose columns of the files with --columns, or write all as one file: %s",
		writeAsOne(t.Format.Name, source.Above(strings.TrimRight(t.folder, "/"))))
}
