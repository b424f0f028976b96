package formats

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
)

// The folders of the logs of tables of Delta Lake, Hudi and Iceberg.
const (
	deltaLog   = "_delta_log"
	hudiLog    = ".hoodie"
	icebergLog = "metadata" // with files such as v1.metadata.json
)

// refuseLake returns an error if dir, whose entries are l, is a table of Delta Lake, Iceberg or
// Hudi. Which files belong to such a table, and which of their rows, is in its log: reading all
// files would bring back rows that were deleted or replaced.
func refuseLake(files source.Files, dir string, l listing) error {
	out := strings.TrimRight(dir, "/") + ".parquet"
	if l.log == "" && slices.Contains(l.folders, icebergLog) {
		inner, _ := files.ReadDir(source.Under(dir, icebergLog), maxExamined) // what cannot be read is reported later
		if slices.ContainsFunc(inner,
			func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".metadata.json") }) {
			l.log = icebergLog
		}
	}
	refuse := func(name, command string, args ...any) error {
		return fault.New(fault.Unsupported,
			"found a table of %s, whose files have deleted and replaced rows, expected plain files", name).
			In(dir).WithHint("write its current rows to a file: "+command, args...)
	}
	switch l.log {
	case deltaLog:
		return refuse("Delta Lake", "%s",
			duckdb(fmt.Sprintf("COPY (FROM delta_scan('%s')) TO '%s'", sql(dir), sql(out))))
	case icebergLog:
		return refuse("Iceberg", "%s",
			duckdb(fmt.Sprintf("COPY (FROM iceberg_scan('%s', allow_moved_paths = true)) TO '%s'", sql(dir), sql(out))))
	case hudiLog:
		return refuse("Hudi", "python -c %s", shell.Quote(fmt.Sprintf("import pyarrow as pa, pyarrow.parquet as pq; "+
			"from hudi import HudiTableBuilder as H; "+
			"pq.write_table(pa.Table.from_batches(H.from_base_uri(%q).build().read_snapshot()), %q)", dir, out)))
	}
	return nil
}

// sql returns s for a literal of SQL.
func sql(s string) string { return strings.ReplaceAll(s, "'", "''") }

// duckdb returns a command that runs a statement.
func duckdb(statement string) string {
	if !strings.ContainsAny(statement, "\"\\$`!") { // in double quotes it is easier to read
		return `duckdb -c "` + statement + `"`
	}
	return "duckdb -c " + shell.Quote(statement)
}

// maxDepth is the number of levels of folders that are searched for images; links may lead in
// circles.
const maxDepth = 8

// refuseDeep returns an error if there are images in folders of dir so deep that they are neither
// class folders nor folders of splits.
func refuseDeep(files source.Files, dir string, folders []string) error {
	var level []string
	for _, name := range folders {
		level = append(level, source.Under(dir, name))
	}
	examined := 0
	for depth := 1; depth <= maxDepth && len(level) > 0; depth++ {
		var next []string
		for _, path := range level {
			l, err := list(files, path, maxExamined)
			if examined++; err != nil || l.idx || examined > maxExamined {
				return nil
			}
			if l.image != "" && depth > 2 {
				return fault.New(fault.Unsupported,
					"found images %s down, such as %s, expected class folders with images, "+
						"or folders of splits with class folders",
					display.Count(depth, "folder"), source.Under(path, l.image)).In(dir).
					WithHint("give the folder that holds the class folders: %s", shell.Path(source.Above(path)))
			}
			for _, name := range l.folders {
				next = append(next, source.Under(path, name))
			}
		}
		level = next
	}
	return nil
}
