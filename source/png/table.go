package png

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"image"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/picture"
)

type table struct {
	path    string // as given by the user, for errors
	root    *os.Root
	files   []file          // in the order of the rows
	folders []string        // names of the class folders, in order; one "" if there are none
	empty   []string        // folders in it without images
	beside  string          // a file beside them that may have labels, or ""
	kinds   map[string]bool // of the images, by their names
	format  picture.Format
	columns []source.Column
	numbers [][]byte // the values of the columns after the images, for all rows
	info    source.Info
	next    int64       // row
	buffers chan []byte // for files: a goroutine that decodes takes one
}

// Open opens the folder at path: it lists all files and reads the first one. Errors name the file.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	t := &table{path: path, root: root, kinds: map[string]bool{}, beside: o.Beside}
	if err := t.begin(o); err != nil {
		return nil, errors.Join(fault.In(path, err), t.Close())
	}
	return t, nil
}

// begin finds the files, their order, the labels and the format of the images.
func (t *table) begin(o source.ReadOptions) error {
	if err := t.list(); err != nil {
		return err
	}
	if len(t.files) == 0 && o.Like != nil { // an output without rows
		t.columns = o.Like
		return nil
	} else if len(t.files) == 0 {
		return fault.New(fault.Unsupported, "found no images").
			WithHint("give a folder of images, or of class folders with images")
	}
	t.columns = []source.Column{{Name: "image", Origin: filepath.Base(t.path)}}
	if err := t.findLabels(o); err != nil {
		return err
	}
	options := picture.Options{Width: o.Resize[0], Height: o.Resize[1], Grey: o.Grey, Limit: o.MaxRecord(),
		Shape: [3]int(slices.Concat(o.Shape, make([]int, 3)))}
	first, err := t.readFile(nil, t.files[0], picture.Format{}.MaxFile()+2*o.MaxRecord())
	stored, described := picture.Options{}.Describe(first)
	if err = cmp.Or(err, described); err == nil {
		t.format, err = options.Convert(stored)
	}
	if err != nil {
		return t.inFile(t.files[0].path(), err)
	}
	t.columns[0].DType, t.columns[0].Shape = t.format.DType(), t.format.Shape()
	processors := runtime.GOMAXPROCS(0)
	most := max(processors, int(64<<20/(int64(len(first))+4*stored.Size())))
	t.buffers = make(chan []byte, min(cmp.Or(max(o.Workers, 0), processors), most))
	for range cap(t.buffers) {
		t.buffers <- nil
	}
	t.info.Decoders = options.Decoders(append(slices.Collect(maps.Keys(t.kinds)), picture.KindOf(first))...)
	return nil
}

type file struct {
	folder string // the class folder, or "" if there is none
	name   string
	rank   int // 0 for numbers, as sink/png names files; 1 for others, which seldom count across folders
}

func (f file) path() string { return path.Join(f.folder, f.name) }
func (f file) stem() string { return strings.TrimSuffix(f.name, path.Ext(f.name)) }

// word returns what is before the first number of a name, as "cat" of Cat (1).jpg, or "".
func (f file) word() string {
	number := max(0, strings.IndexAny(f.name, "0123456789"))
	return otherWord().ReplaceAllString(strings.ToLower(strings.TrimRight(f.name[:number], "-._ (")), "")
}

// list lists all images, in the order of the rows, and their class folders.
func (t *table) list() error {
	if err := t.visit(""); err != nil {
		return err
	} else if n := len(t.folders); n > 1 && t.folders[n-1] == "" { // class folders end before it
		return fault.New(fault.Malformed, "found images beside the class folder %s, expected all in class folders",
			t.folders[0]).WithHint("move the images into class folders, or move the folders away")
	}
	slices.SortFunc(t.files, func(a, b file) int {
		names, folders := source.CompareNames(a.name, b.name), strings.Compare(a.folder, b.folder)
		return cmp.Or(a.rank-b.rank, a.rank*folders, names, folders) // numbers count across folders
	})
	return nil
}

// visit adds the images in the directory dir, and in its class folders, to t.files.
func (t *table) visit(dir string) error {
	entries, err := os.ReadDir(filepath.Join(t.path, dir)) // that of a root calls lstat for each
	if err != nil {
		return t.inFile(dir, err)
	}
	before := len(t.files)
	for _, e := range entries {
		if err := t.visitEntry(dir, e); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(t.files[before:], func(f file) bool { return f.folder == dir }) {
		t.folders = append(t.folders, dir)
	} else if dir != "" {
		t.empty = append(t.empty, dir)
	}
	return nil
}

// Unread are the names of other forms of metadata.csv that are no tables by their extensions.
var Unread = []string{"metadata.json", "metadata.jsonl", "metadata.xlsx"}

// Patterns of names: of files that may have the labels of images without class folders, but not of
// other texts or of what is read; of images with labels, as 7-label_3.png; of tables, which may
// have any columns; and of cameras and programs, as the first words of images, which are no labels.
var labelsName = text.Pattern(`(?i)label|annotation|metadata|^(list|gt)[._]|\.(txt|json|xml|ya?ml|cls|mat|pkl|h5|lst)$`)
var labelledName = text.Pattern(`(?i)[^a-z](label|class)[-_=]?\d|^(label|class)[-_=]?\d+[^\d.]`)
var aboutName = text.Pattern(`^metadata\.csv$|(?i)^(read.?me|(licen[cs]e|notice|copying|copyright|citation|credit|` +
	`changelog|version|requirement|checksum|(md5|sha\d+)(sum)?|dataset[-_](info|dict|metadata))s?(\.|$))`)
var tableName = text.Pattern(`(?i)\.([ct]sv|jsonl|parquet|arrow|feather|np[yz]|idx)(\.(gz|zst|xz|bz2))?$`)
var otherWord = text.Pattern(`^_?(img|mg|dsc[nf]?|pxl|image|picture|pic|photo|scan|screen ?shot|frame)$`)

// Patterns of what names of masks, and of images, have beyond the name of both, as 1_mask_2, 1_img.
const maskWord = `(?:masks?|seg(?:mentation)?|gt|ground.?truth|labels?|anno[a-z]*|superpixels|matte|manual1|[12]..HO)`

var maskName = text.Pattern(`(?i)(^` + maskWord + `[-_. ])|((?:(?:^|[-_. ])` + maskWord + `)+)([-_. ]?\d+)?$`)
var imageName = text.Pattern(`(?i)^(image|img|orig(inal)?|photo)[-_. ]|[-_. ](image|img|orig(inal)?|photo|rgb|sat)$`)

// checkMasks returns an error if images are, by their names, masks of others in their folder, which
// is not called after masks. One alone may have such a name by chance.
func (t *table) checkMasks() error {
	masks := slices.DeleteFunc(slices.Clone(t.files), func(f file) bool {
		return f.rank == 0 || !maskName().MatchString(f.stem()) || maskName().MatchString(f.folder)
	})
	image := func(name string) string { return imageName().ReplaceAllString(strings.ToLower(name), "") }
	images, patterns, found := map[string]bool{}, map[string]bool{}, []file(nil) // patterns for find
	for i := 0; i < len(t.files) && len(masks) > 1; i++ {
		images[t.files[i].folder+"/"+image(t.files[i].stem())] = true
	}
	for _, f := range masks { // with a number at the end that is of the mask, or of the image
		without, with := maskName().ReplaceAllString(f.stem(), ""), maskName().ReplaceAllString(f.stem(), "$3")
		if images[f.folder+"/"+image(without)] || images[f.folder+"/"+image(with)] {
			word := maskName().FindStringSubmatch(f.stem())
			found, patterns[cmp.Or(word[1], "*"+word[2]+"[-_. 0-9]")+"*"] = append(found, f), true
		}
	}
	if len(found) < 2 {
		return nil
	}
	return t.inFile(found[0].path(), fault.New(fault.Usage, "found what may be the mask of an image").WithHint("read"+
		` a copy without masks: cp -R %s COPY && find COPY -type f \( -iname '%s' \) -delete; or, if all are images `+
		"of classes, list them in %s under file_name", text.Path(t.path),
		strings.Join(slices.Sorted(maps.Keys(patterns)), "' -o -iname '"), schema.MetadataFile))
}

// MayLabel reports whether a file of this name may have labels of images without class folders.
func MayLabel(name string) bool {
	return labelsName().MatchString(name) && !aboutName().MatchString(name)
}

// visitEntry adds an image to t.files, or those of a class folder.
func (t *table) visitEntry(dir string, e fs.DirEntry) error {
	name, mode, err := path.Join(dir, e.Name()), e.Type(), error(nil)
	if source.IsHidden(e.Name()) {
		return nil
	}
	if mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		var info fs.FileInfo
		if info, err = t.root.Stat(name); err == nil {
			mode = info.Mode().Type()
		}
	}
	kind, isTable := picture.KindByName(name), tableName().MatchString(name)
	if mode == 0 && (kind == "" && MayLabel(name) || kind != "" && dir == "" && labelledName().MatchString(name)) {
		t.beside = name
	}
	found, hint := "", "remove it, or copy the folder with what its links lead to: cp -RL "+text.Path(t.path)+" COPY"
	switch {
	case err != nil:
		found = "a link that does not lead to a file or a folder within the folder " + t.path
	case mode.IsDir() && dir != "":
		found = "a folder in a class folder"
		hint = "move it, or give the folder that holds class folders: " + text.Path(filepath.Join(t.path, dir))
	case mode.IsDir():
		return t.visit(name)
	case kind == "" && isTable && (dir != "" || name[0] == '_'), slices.Contains(Unread, name):
		found, hint = "a table", "move it away: labels are read only from "+filepath.Join(t.path, schema.MetadataFile)+
			", which pandas writes with to_csv(…, index=False)"
	case kind == "" && mode == 0:
		begin, _ := t.readFile(nil, file{name: name}, 16) // a file that cannot be read is none of the images
		if _, kind, _ = image.DecodeConfig(bytes.NewReader(begin)); kind == "" {
			return nil
		}
		path := filepath.Join(t.path, name)
		return t.inFile(name, fault.New(fault.Malformed, "found a %s image, expected a name that ends with .%s",
			strings.ToUpper(kind), kind).WithHint("move it away; or rename it: mv -n %s %s", text.Path(path),
			text.Path(path+"."+kind)))
	case mode != 0:
		found, hint = "a pipe, a socket or a device", "remove it"
	default:
		other := strings.Trim(strings.TrimSuffix(e.Name(), path.Ext(name)), "0123456789")
		t.files = append(t.files, file{dir, e.Name(), min(1, len(other))})
		t.kinds[kind] = true
		return nil
	}
	return t.inFile(name, fault.New(fault.Malformed, "found %s, expected images directly in class folders", found).
		WithHint("%s", hint))
}

// readFile reads f, of up to limit bytes, into buf, which grows as needed.
func (t *table) readFile(buf []byte, f file, limit int64) ([]byte, error) {
	opened, err := t.root.Open(f.path())
	if err != nil {
		return buf, err
	}
	defer opened.Close() // read-only: an error does not matter
	data := bytes.NewBuffer(buf[:0])
	if _, err = data.ReadFrom(io.LimitReader(opened, limit+1)); err == nil && int64(data.Len()) > limit {
		err = fault.New(fault.Unsupported, "found more than %d bytes, more than an image of this size needs", limit)
	}
	return data.Bytes(), err
}

// inFile adds the path of a file in the folder to err, which may have the path within the folder.
func (t *table) inFile(name string, err error) error {
	if known, ok := errors.AsType[*os.PathError](err); ok {
		err = known.Err
	}
	return fault.In(filepath.Join(t.path, filepath.FromSlash(name)), err)
}

func (t *table) Columns() []source.Column { return t.columns }
func (t *table) Rows() int64              { return int64(len(t.files)) }
func (t *table) Info() source.Info        { return t.info }
func (t *table) Close() error             { return t.root.Close() }

// Read only chooses the rows of b: Decode opens their files.
func (t *table) Read(ctx context.Context, b *source.Raw) error {
	b.First, b.Rows = t.next, int(min(int64(b.Cap), t.Rows()-t.next))
	t.next += int64(b.Rows)
	if b.Rows == 0 {
		return cmp.Or(ctx.Err(), io.EOF)
	}
	return ctx.Err()
}

// Decode decodes the files of b in as many goroutines as there are buffers, as a folder of small
// pictures may be one batch. No file is begun after an error, that of the first file that has one.
func (t *table) Decode(b *source.Raw) error {
	b.Allocate(t.columns)
	errs, size := make([]error, b.Rows), t.columns[0].RecordSize()
	var begun atomic.Int64
	var group sync.WaitGroup
	for range min(cap(t.buffers), b.Rows) {
		group.Go(func() {
			buffer, err := <-t.buffers, error(nil)
			for row := begun.Add(1) - 1; row < int64(b.Rows); row = begun.Add(1) - 1 {
				f, record := t.files[b.First+row], b.Columns[0][int(row)*size:][:size:size]
				if buffer, err = t.readFile(buffer, f, t.format.MaxFile()); err == nil {
					_, err = t.format.Append(record[:0], buffer) // in its memory, which has the size of the record
				}
				if err != nil {
					errs[row] = t.inFile(f.path(), fault.Place(err, "", b.First+row, -1))
					begun.Store(int64(b.Rows))
				}
			}
			t.buffers <- buffer
		})
	}
	group.Wait()
	for i, data := range t.numbers {
		copy(b.Columns[i+1], data[b.First*int64(t.columns[i+1].DType.Size()):])
	}
	return cmp.Or(errs...)
}
