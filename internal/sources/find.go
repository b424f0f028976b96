package sources

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/npy"
	"github.com/idxport/idxport/source/picture"
	"github.com/idxport/idxport/source/png"
)

// Find returns the tables of the file or folder at path, which it opens through files, sorted by
// name. It returns none, and no error, for other formats, such as IDX files and folders of them.
func Find(files source.Files, path string) (tables []Table, err error) {
	info, err := files.Stat(path)
	if err != nil {
		return nil, fault.In(path, err)
	} else if !info.IsDir() {
		tables, err = inFile(files, path)
	} else {
		tables, _, err = folder(files, path, true)
		numberBeside(files, path, tables)
	}
	for i := range tables {
		if tables[i].Format.Name == "npz" && err == nil {
			tables[i].Arrays, err = npy.Arrays(files, tables[i].Path)
		}
	}
	return tables, err
}

// numberBeside numbers the class folders in path, a split, together with those of splits beside it.
func numberBeside(files source.Files, path string, tables []Table) {
	if len(tables) != 1 || splitOf(dataset.FolderName(path)) == "" ||
		schema.LabelsByNumber(slices.Collect(maps.Keys(tables[0].folders))) != nil { // numbers are labels
		return
	}
	splits, above := []Table{tables[0]}, source.Under(path, "..")
	entries, _ := files.ReadDir(above, 0) // without permission, there are none
	for _, e := range entries {
		if !e.Type().IsRegular() && splitOf(e.Name()) != "" {
			found, _, _ := folder(files, source.Under(above, e.Name()), false) // errors are of other data
			splits = append(splits, found...)
		}
	}
	if all := numberTogether(files, splits)[0]; all.unlisted == nil {
		tables[0].folders, tables[0].alone = all.folders, above
	}
}

// As returns the table at path in the format called name ("parquet", …), whatever its extension.
// With a prefix, it is the files in the folder path whose names begin so. Messages call it label.
func As(name, path, prefix, label string) (Table, error) {
	name = cmp.Or(map[string]string{"arrows": "arrow", "tsv": "csv"}[name], name) // which are read alike
	t := Table{Format: formats[name], Name: label, Paths: []string{path}, Path: label}
	if prefix != "" {
		t.Paths, _ = fs.Glob(os.DirFS(path), prefix+"*")
		for i, name := range t.Paths {
			t.Paths[i] = filepath.Join(path, name)
		}
		slices.SortStableFunc(t.Paths, source.CompareNames)
	}
	if t.Paths == nil {
		return t, fault.In(label, fs.ErrNotExist)
	}
	return t, nil
}

// Spark and this program number parts as part-00000, pyarrow and Dask as part-0 and part.0, the Hub
// as 0000. numberedName needs all numbers: of --rows-per-file from 0 on, of Hugging Face, which
// leaves cacheName, from 0 to N-1, of --part from 1 to N. otherName and packedName are not read.
var (
	partName     = text.Pattern(`^part[-.]\d+\b`)
	hubName      = text.Pattern(`^0\d{3}\.parquet$`)
	cacheName    = text.Pattern(`^cache-[0-9a-f]{16}.*\.arrow$`)
	cameraName   = text.Pattern(`^_([A-Z]{2,4}_?)?\d+[_.]`) // of Nikon, Canon and others, and of Keras
	numberedName = text.Pattern(`^(?:part-(\d{5,})-[0-9a-f]{16}|(.+)-(\d+)-of-(\d+)(?:-[0-9a-f]{16})?)\.`)
	classMapName = text.Pattern(`(?i)(^|[-_./\\])(classes|class[-_]?(map(ping)?|names?|labels?))\.[ct]sv$`)
	otherName    = text.Pattern(`(?i)^(` + dataset.SplitWord + `)\.(jsonl?|ndjson|xlsx?|ods|h5|hdf5|mat|pkl|pth?|orc|` +
		`avro|arff|rds|rdata|tfrecords?|(npy|npz|parquet|arrow)\.(gz|zst|xz|bz2))$`)
	packedName = text.Pattern(`(?i)^(` + dataset.SplitWord + `|.*\.([ct]sv|np[yz]|parquet|arrow)(\.(gz|zst|xz|bz2))?)` +
		`\.(zip|7z|rar|tar|tar\.\w+|tgz|dvc|(file)?part|partial|crdownload|download|aria2|tmp)$`)
	besideSplit = text.Pattern(`(?i)^masks[-_]|[-_]?(masks|20\d\d|[AB])$`)
	labelsName  = text.Pattern(`(?i)^(labels|annotations?)$`)
	keyedName   = text.Pattern(`^[\pL_].*=.`) // not the class = of mathematical symbols
)

// splitOf returns the split or labels that a folder may have by its name, as val2017, not a file.
func splitOf(folder string) string {
	return cmp.Or(dataset.ParseName(besideSplit().ReplaceAllString(folder, "")).Split, labelsName().FindString(folder))
}

// A listing is what a folder holds, except hidden files and markers such as _SUCCESS.
type listing struct {
	files   []string        // names
	folders map[string]bool // by name: whether there are images in it
	splits  []string        // folders with images that are called after splits
	classes []string        // the other folders with images; all of them if there is schema.ClassesFile
	image   string          // the path of an image in the folder or its class folders, or ""
	idx     string          // the path of an IDX file, or ""
	idxIn   string          // the path of a folder in it that has IDX files, or ""
	unread  string          // the folder that tells that the table is not read, or ""
	full    bool            // there may be more: listing all folders twice takes 1.5 times as long
}

// list lists dir and looks into its folders, or lists up to limit of its entries if limit > 0.
func list(files source.Files, dir string, limit int) (l listing, err error) {
	entries, err := files.ReadDir(dir, limit)
	ours := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == schema.ClassesFile })
	l.folders, l.full = map[string]bool{}, len(entries) == limit
	for _, entry := range entries {
		name, path, isFolder := entry.Name(), source.Under(dir, entry.Name()), entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 && name[0] != '.' {
			info, err := files.Stat(path)
			isData := Named(name) || splitOf(name)+picture.KindByName(name)+dataset.ParseName(name).Format != ""
			if err != nil && isData {
				return l, fault.New(fault.NotFound, "the link leads to nothing").In(path).Because(err)
			}
			isFolder = err == nil && info.IsDir()
		}
		switch {
		case name == "_delta_log" || name == ".hoodie" || name == "_spark_metadata" || name == "_temporary":
			l.unread = name
		case source.IsHidden(name) || cacheName().MatchString(name), isFolder && limit != 0,
			name[0] == '_' && !isFolder && (picture.KindByName(name) == "" || !cameraName().MatchString(name)):
		case isFolder:
			inner, failed := list(files, path, 1<<10) // there may be a million images
			if inner.image == "" && inner.full {
				inner, failed = list(files, path, -1) // after as many other files
			}
			err = errors.Join(err, failed)
			l.folders[name] = inner.image != ""
			if inner.idx != "" {
				l.idxIn = path
			}
			switch isKeyed := !ours && keyedName().MatchString(name); {
			case isKeyed && (inner.image != "" || !strings.HasPrefix(name, "split=")):
				l.unread = cmp.Or(l.unread, name)
			case name == "metadata" && strings.Contains(strings.Join(inner.files, "/"), ".metadata.json"):
				l.unread = name // of Iceberg, whose files may be in partitions
			case inner.image != "" && !ours && splitOf(name) != "":
				l.splits = append(l.splits, name)
			case inner.image != "":
				l.image, l.classes = inner.image, append(l.classes, name)
			}
		case picture.KindByName(name) != "": // idx0.png too
			l.image = path
		case dataset.ParseName(name).Format != "":
			l.idx = path
		default:
			l.files = append(l.files, name)
		}
	}
	return l, fault.In(dir, err)
}

// unread has the kinds of tables that are not read, with a command that reads them from a folder. A
// log says which files and rows belong to the first three: others were deleted or replaced.
var unread = map[string]struct{ name, command string }{
	"_delta_log": {"a table of Delta Lake", `duckdb -c "COPY (FROM delta_scan('%s')) TO '%[1]s.parquet'"`},
	"metadata": {"a table of Iceberg",
		`duckdb -c "COPY (FROM iceberg_scan('%s', allow_moved_paths = true)) TO '%[1]s.parquet'"`},
	"_spark_metadata": {"a stream of Spark", `in pyspark, spark.read.parquet("%s").write.parquet("%[1]s-rows")`},
	"_temporary":      {"a job of Spark that has not finished", "wait for it; or, if it was ended, write %s again"},
	".hoodie":         {"a table of Hudi", `with the hudi of Python, HudiTableBuilder.from_base_uri("%s").build()`},
	"=": {"a table with a column in the names of its folders",
		`duckdb -c "COPY (FROM '%s/**/*.parquet') TO '%[1]s.parquet'", with **/*.csv for CSV; to read images, ` +
			`rename the folders to the values: (cd '%[1]s' && for d in *=*; do mv -- "$d" "${d#*=}"; done)`},
}

// unreadError returns the error for dir, whose folder name belongs to a table that is not read.
func unreadError(dir, name string) error {
	table, path := cmp.Or(unread[name], unread["="]), strings.TrimRight(filepath.ToSlash(dir), "/")
	if path != text.Printable(path) || strings.ContainsAny(path, "'\"\\$`!*?[") { // which a shell or DuckDB changes
		path = "DIR"
	}
	return fault.New(fault.Unsupported, "found the folder %s of %s, expected plain files", name, table.name).
		In(dir).WithHint("write its rows to plain files: "+table.command, path)
}

// folder finds the tables in dir: its images, if it or its folders, the classes, have some; those
// in its files; or, if deep, those in its folders, which are splits: each is one more folder, but
// not deep. Two of the three are an error, and so are any with idxIn, a folder of IDX files in dir
// or its folders. Beside IDX files in dir, which another package reads, only class folders count.
func folder(files source.Files, dir string, deep bool) (tables []Table, idxIn string, err error) {
	l, err := list(files, dir, 0)
	image := func(path string) string { inner, _ := list(files, path, 0); return inner.image }
	base := filepath.Base(dir)             // Kaggle packs train/train
	if l.idx != "" && len(l.classes) < 2 { // one has pictures, and splits may be of the same run
		return nil, dir, nil
	} else if l.idx != "" {
		return nil, dir, checkAlone(dir, l, nil, nil)
	} else if err != nil || l.unread != "" {
		return nil, "", cmp.Or(err, unreadError(dir, l.unread))
	} else if hasImages, isIn := l.folders[base]; isIn && !deep && len(l.folders)+len(l.files) == 1 &&
		(!hasImages || splitOf(base) != "") {
		return folder(files, source.Under(dir, base), false)
	}
	doubt, below := l.doubt(dir), []Table(nil)
	if doubt != nil {
		l.image = cmp.Or(l.image, source.Under(dir, l.splits[0]))
	}
	tables, err = inFiles(dir, l, deep)
	isSearched := deep || l.image != "" || tables != nil
	if err == nil && isSearched {
		below, l.idxIn, err = inFolders(files, dir, l)
	}
	for name := range l.folders { // which may be splits of a copy of the data
		if !isSearched && splitOf(name) != "" && image(source.Under(dir, name)) != "" {
			return nil, "", fault.New(fault.Usage, "found splits of images in it, expected splits above class folders").
				In(dir).WithHint("give it alone: %s; or move it away", text.Path(dir))
		}
	}
	if err = cmp.Or(err, checkAlone(dir, l, tables, below)); err != nil {
		return nil, "", err
	}
	if i := slices.IndexFunc(l.files, png.MayLabel); i >= 0 {
		for k, t := range below {
			below[k].beside, _ = filepath.Rel(t.Path, source.Under(dir, l.files[i])) // both as dir is given
		}
	}
	if l.image != "" {
		return []Table{{Format: formats["png"], Name: dataset.FolderName(dir), Paths: []string{dir}, Path: dir,
			folders: l.folders, unlisted: doubt}}, "", nil
	}
	return numberTogether(files, append(tables, below...)), l.idxIn, nil
}

// doubt returns an error if the folders of images in dir may be splits or classes. They are splits
// if all are called after several splits, and classes if most have other names, as in Places365.
func (l listing) doubt(dir string) error {
	several := slices.ContainsFunc(l.splits, func(name string) bool { return splitOf(name) != splitOf(l.splits[0]) })
	if several && l.classes == nil || l.splits == nil || len(l.splits)+len(l.classes) < 2 ||
		!several && len(l.splits) < len(l.classes) && schema.LabelsByNumber(l.classes) == nil {
		return nil
	}
	return fault.New(fault.Usage, "found images in folders that may be splits or classes: %s",
		strings.Join(slices.Concat(l.splits, l.classes), ", ")).In(dir).WithHint("give the splits one by one, such"+
		" as %s; or list the names of all classes: --classes FILE", text.Path(source.Under(dir, l.splits[0])))
}

// checkAlone returns an error if dir, whose content is l, has two of these: images, or files with
// labels or splits in formats that are not read; tables in its files; those below; any IDX files.
func checkAlone(dir string, l listing, tables, below []Table) error {
	images, other, advice := l.image != "" || below != nil && below[0].Format.Name == "png", "", ""
	if images {
		advice = "; labels of images go into metadata.csv in their folder: file_name,label"
	}
	arrays := slices.DeleteFunc(slices.Concat(tables, below), func(t Table) bool { return t.Format.Name != "npy" })
	isLabels := func(s string) bool { return dataset.ParseName(s).Role == dataset.Label || dataset.IsCalledY(s) }
	for _, name := range l.files {
		stem, _, _ := strings.Cut(name, ".")
		isOwn := func(t Table) bool { // labels of the split of the file
			return isLabels(t.Name) && strings.HasPrefix(dataset.ParseName(t.Name).Split, dataset.ParseName(stem).Split)
		}
		isRead := func(t Table) bool { return !t.Format.OneColumn && strings.HasPrefix(splitOf(t.Name), splitOf(stem)) }
		isLost := packedName().MatchString(name) && !slices.ContainsFunc(slices.Concat(tables, below), isRead)
		unpacked := slices.Contains(l.files, strings.TrimSuffix(name, filepath.Ext(name))) // train.csv of train.csv.zip
		switch isZip := filepath.Ext(name) == ".npz"; {
		case images && slices.Contains(png.Unread, name) || (isLost || otherName().MatchString(name)) && !unpacked:
			other = source.Under(dir, name)
		case len(arrays) > 0 && !isZip && isLabels(stem) && !slices.ContainsFunc(arrays, isOwn):
			other, tables = source.Under(dir, name), arrays // whose labels these are
			advice = "; labels in CSV and arrays are one table in this order: idxport convert y.csv X.npy"
		}
	}
	paths := []string{cmp.Or(l.image, other), l.idx}
	for _, t := range slices.Concat(tables[:min(1, len(tables))], below[:min(1, len(below))]) {
		paths = append(paths, t.Paths[0])
	}
	if paths = slices.DeleteFunc(append(paths, l.idxIn), func(path string) bool { return path == "" }); len(paths) < 2 {
		return nil
	}
	return fault.New(fault.Usage, "found both %s and %s, expected only one of them", paths[0], paths[1]).In(dir).
		WithHint("give one of them, such as %s, or move one of them away%s", text.Path(paths[1]), advice)
}

// inFolders finds the tables in the folders of dir, whose content is l, except class folders. It
// returns an error if it finds some, but none in a folder of a split that is not empty.
func inFolders(files source.Files, dir string, l listing) (below []Table, idxIn string, err error) {
	without, unnamed := "", []string(nil)
	names, isListed := slices.Sorted(maps.Keys(l.folders)), slices.Contains(l.files, splitsFile)
	if isListed {
		names, err = source.OpenFile(files, source.Under(dir, splitsFile), "a file", readSplits)
	}
	for _, name := range names {
		if hasImages, isThere := l.folders[name]; !isThere {
			return nil, "", fault.New(fault.NotFound, "found no folder %s, which is in %s", text.Quote(name),
				splitsFile).In(dir).WithHint("the data set is incomplete: download or write it again")
		} else if l.image != "" && hasImages {
			continue
		}
		path := source.Under(dir, name)
		_, stem, _ := byExtension(path)
		stem = strings.TrimPrefix(stem, "split=")
		found, idx, err := folder(files, path, false)
		if err != nil {
			return nil, "", err
		}
		above := dataset.ParseName(stem).Split
		own := dataset.Common(found, func(t Table) string { return dataset.ParseName(t.Paths[0]).Split })
		if !strings.HasPrefix(own, above) && !strings.HasPrefix(above, own) { // val is validation
			return nil, "", fault.New(fault.Usage, "found the split %s in the folder of another, %s", own, above).
				In(found[0].Paths[0]).WithHint("give the folder alone, or the file; or rename one")
		}
		isEmpty := func() bool { entries, _ := files.ReadDir(path, 1); return len(entries) == 0 }
		if len(found) == 1 && (above != "" || own == "") && name != "data" && found[0].Format.Name != "npy" {
			found[0].Name = stem
			first := filepath.Base(found[0].Paths[0]) // of the parts
			if above == "" && partName().MatchString(first) && !numberedName().MatchString(first) {
				unnamed = append(unnamed, path)
			}
		} else if len(found) == 0 && (isListed || splitOf(name) != "" && !isEmpty()) {
			without = path
		}
		below, idxIn = append(below, found...), cmp.Or(idxIn, idx)
	}
	switch {
	case len(unnamed) > 1 && !isListed: // they may be values of a column
		return nil, "", fault.New(fault.Usage, "found parts in each of %s and %s, expected splits such as train and "+
			"test", unnamed[0], unnamed[1]).In(dir).
			WithHint("give one folder at a time; if the names of the folders are a column, add it to the tables first")
	case without != "" && below != nil:
		return nil, "", fault.New(fault.Usage, "found no table in %s, but one in %s", without, below[0].Paths[0]).
			In(dir).WithHint("give one of the folders, such as %s, or put images in class folders of %s",
			text.Path(below[0].Path), text.Path(without))
	}
	return below, idxIn, err
}

// splitsFile lists the splits of Hugging Face's save_to_disk. The folders of earlier ones stay.
const splitsFile = "dataset_dict.json"

func readSplits(f source.File, _ fs.FileInfo) ([]string, error) {
	var list struct{ Splits []string }
	if err := json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&list); err != nil || len(list.Splits) == 0 {
		return nil, fault.New(fault.Malformed, "found no list of splits").Because(err).
			WithHint("write the data set again with save_to_disk; or give one of its folders")
	}
	return slices.Sorted(slices.Values(list.Splits)), f.Close()
}

// inFiles finds the tables in the files of dir, whose content is l, as folder does.
func inFiles(dir string, l listing, deep bool) (tables []Table, err error) {
	_, base, _ := byExtension(dataset.FolderName(dir))
	for _, name := range l.files {
		f, stem, ok := byExtension(name)
		if !ok || l.image != "" && name == schema.MetadataFile { // which package png reads
			continue
		}
		path := source.Under(dir, name)
		t := Table{Format: f, Name: stem, Paths: []string{path}, Path: path}
		if own := dataset.ParseName(stem); !deep && f.Name == "npy" && (own.Split == "" || own.Role == dataset.Data) {
			t.Name += "-" + strings.TrimPrefix(base, "split=") // train/images.npy or images/train.npy
		}
		if m := numberedName().FindStringSubmatch(name); m != nil && m[2] != "" && m[2] != "part" && !f.OneColumn {
			t.Name, t.Path = m[2], source.Under(dir, m[2]+"-*")
		} else if !f.OneColumn && (partName().MatchString(name) || splitOf(base) != "" && hubName().MatchString(name)) {
			t.Name, t.Path = base, dir
		}
		i := slices.IndexFunc(tables, func(other Table) bool { return other.Name == t.Name })
		switch {
		case i < 0 || f.OneColumn:
			tables = append(tables, t)
		case tables[i].Path == t.Path && tables[i].Format.Name == f.Name:
			tables[i].Paths = append(tables[i].Paths, path)
		default:
			return nil, fault.New(fault.Usage, "found %s in two formats, %s and %s", t.Name,
				filepath.Base(tables[i].Paths[0]), name).In(dir).WithHint("give one of the files: %s", text.Path(path))
		}
	}
	for _, t := range tables {
		if len(tables) > 1 && classMapName().MatchString(t.Path) {
			return nil, fault.New(fault.Usage, "found what may be a list of classes, beside tables").In(t.Path).
				WithHint("move it away, and list the names in the order of the labels for --classes class-order.txt, "+
					"perhaps its last column: sed '1d;s/.*,//' %s >class-order.txt", text.Quote(filepath.Base(t.Path)))
		}
		slices.SortStableFunc(t.Paths, source.CompareNames)
		first := 0
		for i, path := range t.Paths {
			m := numberedName().FindStringSubmatch(filepath.Base(path))
			if m == nil || t.Format.OneColumn { // which is not joined
				break // other programs leave out parts without rows
			}
			number, _ := strconv.Atoi(m[1] + m[3])
			total, _ := strconv.Atoi(cmp.Or(m[4], strconv.Itoa(len(t.Paths))))
			if m[4] != "" && m[4][0] != '0' && i == 0 { // else of Hugging Face
				first = min(number, 1)
			}
			if found := len(t.Paths); number != first+i || total != found {
				return nil, fault.New(fault.Malformed, "found %s of %s, such as %s, expected all numbers from %d to %d",
					text.Count(found, "file"), t.Name, filepath.Base(path), first, first+total-1).In(dir).
					WithHint("write or download the table again, or convert single files: %s", text.Path(path))
			}
		}
	}
	return tables, nil
}

// numberTogether gives tables of class folders those of all splits, and schema.ClassesFile if one
// has its labels in a file: a class has the same number in all. Two tables whose folders differ are
// doubtful if neither is called after a split, as they may be classes themselves, or if one has a
// lone folder, such as test/all, that none has beside others. Numbers are labels in any folder.
func numberTogether(files source.Files, tables []Table) []Table {
	all, doubt := map[string]bool{}, error(nil)
	names, shared := make([]string, len(tables)), "" // of folders; those of tables with several
	for i, t := range tables {
		if names[i] = "/" + strings.Join(slices.Sorted(maps.Keys(t.folders)), "//") + "/"; len(t.folders) > 1 {
			shared += names[i]
		}
		for name, used := range t.folders {
			all[name] = all[name] || used
		}
	}
	isNamed := strings.Trim(strings.Join(names, ""), "0123456789/") != ""
	for k, other := range tables {
		for i, t := range tables {
			isLone := len(t.folders) == 1 && !strings.Contains(shared, names[i])
			if isNamed && names[i] != names[k] && len(t.folders)*len(other.folders) > 0 && doubt == nil &&
				(isLone || splitOf(t.Name)+splitOf(other.Name) == "") {
				doubt = fault.New(fault.Usage, "found other class folders than in %s: perhaps no splits", other.Path).
					In(t.Path).WithHint("give the splits one by one, or list the names of all classes: --classes FILE")
			}
		}
	}
	isThere := func(path string) bool { _, err := files.Stat(path); return err == nil }
	for i, t := range tables {
		record := schema.MetadataFile
		if len(t.folders) > 0 {
			record, tables[i].folders, tables[i].unlisted = schema.ClassesFile, all, cmp.Or(doubt, t.unlisted)
		}
		if t.Format.Name == "png" && isThere(source.Under(t.Path, record)) {
			tables[i].unlisted, all[schema.ClassesFile] = nil, false // without images
		}
	}
	return tables
}
