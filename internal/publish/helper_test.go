package publish

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

var errFault = errors.New("injected fault")

// A faultMode is how an operation fails.
type faultMode int

const (
	faultBefore faultMode = iota // without effect
	faultAfter                   // after its effect
	faultCrash                   // like all that follow, as if the process had been killed
)

// A faultyDisk is a disk whose operation number failAt fails, counted from 1; none fails if failAt
// is 0. It may also lack operations, or return the errors of the function fails.
type faultyDisk struct {
	failAt int
	mode   faultMode
	lacks  []string
	fails  func(operation, path string) error // called before the effect; nil lets the operation go on

	mu     sync.Mutex
	count  int
	failed string // the operation that failed
}

// quick is a disk without faults, which syncs nothing.
func quick() disk { return (&faultyDisk{}).do }

// do runs an operation, or fails it.
func (d *faultyDisk) do(operation, path string, effect func() error) error {
	switch operation {
	case "sync", "syncTree", "syncDir": // no test cuts the power, and real disks are slow
		effect = func() error { return nil }
	case "close", "closeFolder": // closes the descriptor whatever it returns
		err := effect()
		effect = func() error { return err }
	}
	if slices.Contains(d.lacks, operation) {
		return errors.ErrUnsupported
	}
	if d.fails != nil {
		if err := d.fails(operation, path); err != nil {
			return err
		}
	}
	d.mu.Lock()
	d.count++
	hit := d.count == d.failAt
	if hit {
		d.failed = operation
	}
	crashed := d.mode == faultCrash && d.failAt > 0 && d.count >= d.failAt
	d.mu.Unlock()
	switch {
	case crashed, hit && d.mode == faultBefore:
		return errFault
	case hit:
		if err := effect(); err != nil {
			return err
		}
		return errFault
	}
	return effect()
}

// A tree is the content of a folder by relative path. The path of a folder ends with a slash, and
// the content of a symbolic link is "-> " and its destination; that of a hard link to make is "= "
// and the other name.
type tree map[string]string

func readTree(t *testing.T, dir string) tree {
	t.Helper()
	found := tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			found[name] = "-> " + to
			return err
		}
		content, err := os.ReadFile(path)
		found[name] = string(content)
		if runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(32)) { // ERROR_SHARING_VIOLATION: a lock
			return nil
		}
		return err
	})
	must.Do(t, err)
	return found
}

// holds fails the test unless dir holds exactly want.
func holds(t *testing.T, dir string, want tree) {
	t.Helper()
	if found := readTree(t, dir); !maps.Equal(found, want) {
		t.Errorf("found %v, expected %v", found, want)
	}
}

// plant makes the files of a tree in dir, and the folders above them.
func plant(t *testing.T, dir string, has tree) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(has)) {
		path := filepath.Join(dir, name)
		to, link := strings.CutPrefix(has[name], "-> ")
		of, hard := strings.CutPrefix(has[name], "= ")
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o777)
		case hard:
			err = os.Link(filepath.Join(dir, of), path)
		case link:
			must.Link(t, to, path)
		default:
			err = os.WriteFile(path, []byte(has[name]), 0o666)
		}
		must.Do(t, err)
	}
}

// under returns the part of t at name or below it.
func (t tree) under(name string) tree {
	part := tree{}
	for path, content := range t {
		if path == name || strings.HasPrefix(path, name+"/") {
			part[path] = content
		}
	}
	return part
}

// hidden returns the names that start with a dot, except records.
func (t tree) hidden() []string {
	var names []string
	for path := range t {
		if strings.HasPrefix(path, ".") && !strings.HasSuffix(strings.TrimSuffix(path, "/"), recordSuffix) {
			names = append(names, path)
		}
	}
	return names
}

// An outputOf is a target and its content: a file has one entry, with the key "", and a folder has
// an entry for each file, with the key subfolder/name. A .png is written at once, everything else
// as a stream in two pieces.
type outputOf struct {
	Target
	files tree
}

// run makes outputs and commits them.
func run(d disk, o Options, outputs ...outputOf) error {
	var targets []Target
	for _, out := range outputs {
		targets = append(targets, out.Target)
	}
	s, err := prepare(d, targets, o)
	if err != nil {
		return err
	}
	defer s.Discard()
	for i, out := range outputs {
		for _, name := range slices.Sorted(maps.Keys(out.files)) {
			if out.Target.Folder {
				if out.Kind == Hub {
					s.Folder(i).Card = []byte("# card\n")
				}
				err = put(s.Folder(i), name, out.files[name])
			} else {
				_, err = s.File(i).Write([]byte(out.files[name]))
			}
			if err != nil {
				return err
			}
		}
	}
	return s.Commit()
}

func put(d *Folder, name, content string) error {
	if strings.HasSuffix(name, ".png") {
		return d.WriteFile(name, []byte(content))
	}
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	half := len(content) / 2
	for _, piece := range []string{content[:half], content[half:]} {
		if _, err := f.Write([]byte(piece)); err != nil {
			return err
		}
	}
	return f.Close()
}

// commitFile publishes one file.
func commitFile(path, content string, o Options) error {
	return run(system, o, outputOf{Target{Path: path}, tree{"": content}})
}

// usual returns a file and a folder in dir with version as their content.
func usual(dir, version string) []outputOf {
	return []outputOf{
		{Target{Path: filepath.Join(dir, "train.parquet")}, tree{"": version}},
		{Target{Path: filepath.Join(dir, "train"), Folder: true},
			tree{"0/00001.png": version + "0", "1/00001.png": version + "1", "metadata.csv": version}},
	}
}

// marked returns folders of the other kinds.
func marked(dir, version string) []outputOf {
	return []outputOf{
		{Target{Path: filepath.Join(dir, "parts"), Folder: true, Kind: Parts},
			tree{"part-00000.parquet": version + "0", "part-00001.parquet": version + "1"}},
		{Target{Path: filepath.Join(dir, "hub"), Folder: true, Kind: Hub}, tree{"data/train-00000.parquet": version}},
	}
}

// published makes outputs on a disk without faults and returns the new content of dir.
func published(t *testing.T, dir string, outputs []outputOf) tree {
	t.Helper()
	must.Do(t, run(quick(), Options{}, outputs...))
	return readTree(t, dir)
}

// refuses fails the test unless err is of the kind and contains says; kind nil means no error.
func refuses(t *testing.T, err error, kind error, says string) {
	t.Helper()
	if kind == nil && err != nil || kind != nil && (!errors.Is(err, kind) || !strings.Contains(err.Error(), says)) {
		t.Errorf("found the error %v, expected %v that says %q", err, kind, says)
	}
	if errors.Is(err, fault.Refused) && fault.HintOf(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}
