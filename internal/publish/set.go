package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/idxport/idxport/internal/fault"
)

// Options apply to all targets of a run.
type Options struct {
	Overwrite bool // replace existing targets
	// Inputs are paths that no output may be, contain or be inside. Missing ones are ignored.
	Inputs []string
}

// A Set is the outputs of one run, which are published together.
type Set struct {
	disk      disk
	overwrite bool
	outputs   []*output
	staged    []*output // those with a partial, that is all but devices and FIFOs

	mu        sync.Mutex // held by Complete, Commit and Discard
	completed bool       // all outputs are complete, under their hidden names
	ended     bool
	parents   []string // folders made for the targets, outermost first
}

// Prepare checks every target before any work, takes the locks, sweeps what killed runs left and
// creates the partials. After an error, which is a *fault.Error, nothing remains on disk.
func Prepare(targets []Target, o Options) (*Set, error) { return prepare(system, targets, o) }

func prepare(d disk, targets []Target, o Options) (*Set, error) {
	s := &Set{disk: d, overwrite: o.Overwrite}
	for _, t := range targets {
		out, err := locate(t)
		if err == nil {
			err = out.refuse(o.Inputs, s.outputs)
		}
		if err != nil {
			return nil, failure(t.Path, "cannot follow the path", err)
		}
		s.outputs = append(s.outputs, out)
		if !out.direct {
			s.staged = append(s.staged, out)
		}
	}
	// Of two runs with the same targets one gets all the locks. Folders are published first: their
	// file system may be unable to rename them, and then nothing else is published.
	order := func(out *output) string { return strconv.FormatBool(!out.target.Folder) + out.real }
	slices.SortFunc(s.staged, func(a, b *output) int { return strings.Compare(order(a), order(b)) })
	err := each(s.staged, "cannot be created", s.lockAndSweep)
	if err == nil {
		err = s.refuseExisting()
	}
	if err == nil {
		err = each(s.outputs, "cannot be created", s.create)
	}
	if err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// each calls step for the outputs until one fails; doing names the step.
func each(outputs []*output, doing string, step func(*output) error) error {
	for _, out := range outputs {
		if err := step(out); err != nil {
			return failure(out.target.Path, doing, err)
		}
	}
	return nil
}

// refuseExisting refuses targets that exist and must not be replaced; see Replacing in doc.go.
// Commit leaves the check of a single folder to replaceFolder, as nothing is published before it.
func (s *Set) refuseExisting() error {
	var existing []*output
	err := each(s.outputs, "cannot check it", func(out *output) error {
		if out.direct {
			return nil
		}
		err := out.inspect(s.disk)
		switch {
		case err != nil || !out.occupied:
		case s.overwrite:
			if out.target.Folder && !(s.completed && len(s.staged) == 1) {
				err = out.refuseForeign(s.disk, out.real)
			}
		case s.completed:
			err = s.accept(out)
		default:
			existing = append(existing, out)
		}
		return err
	})
	if err == nil && len(existing) > 0 && len(existing) == len(s.staged) {
		return fault.In(existing[0].target.Path, errExists)
	}
	return err
}

// accept accepts an existing target that equals the output, and fails with fault.Exists otherwise.
func (s *Set) accept(out *output) error {
	existing, err := resultOn(s.disk, "open", Fingerprint, out.real)
	written, writtenErr := resultOn(s.disk, "open", Fingerprint, out.partial)
	if err = cmp.Or(err, writtenErr); err == nil && existing != written {
		err = errExists
	}
	return failure(out.target.Path, "cannot compare it with the new output", err)
}

// makeParents makes a folder and the missing ones above it.
func (s *Set) makeParents(dir string) error {
	if found, err := s.disk.lstat(dir); err != nil || found != nil {
		return err
	}
	if err := s.makeParents(filepath.Dir(dir)); err != nil {
		return err
	}
	s.parents = append(s.parents, dir) // before mkdir, which may succeed and still return an error
	err := s.disk.on("makeDir", makeDir, dir)
	if errors.Is(err, fs.ErrExist) { // another run made it
		s.parents, err = s.parents[:len(s.parents)-1], nil
	}
	return err
}

// lockAndSweep makes the folders above a target, takes its lock, and sweeps. An old folder whose
// target is missing is moved back: a run was killed between its two renames. On a file system
// without locks a run goes on, as its hidden names are random, but sweeps nothing.
func (s *Set) lockAndSweep(out *output) error {
	err := s.makeParents(filepath.Dir(out.real))
	if err == nil {
		out.lock, err = resultOn(s.disk, "lock", takeLock, out.beside(lockSuffix)) // perhaps a lock and an error
	}
	same := func(other *output) bool { return other.lock != nil && strings.EqualFold(other.real, out.real) }
	if errors.Is(err, errLocked) && slices.ContainsFunc(s.staged, same) { // one file, as on macOS and Windows
		err = refusal("its name differs from another output's in case only", "give every output a place of its own")
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	records, left, err := out.siblings(s.disk)
	for _, r := range records {
		out.stale = append(out.stale, r.path)
	}
	if out.lock == nil {
		return err
	}
	for _, path := range left {
		found, lookErr := s.disk.lstat(out.real) // without it an old folder may be the only one
		switch err = cmp.Or(err, lookErr); {
		case err != nil:
		case found == nil && strings.HasSuffix(path, oldSuffix):
			err = s.disk.move("rename", rename, path, out.real)
		default:
			err = s.disk.on("removeAll", os.RemoveAll, path)
		}
	}
	return failure(out.target.Path, "removing what an interrupted run left", err)
}

// UpToDate reports whether the output at path was made with this Target.Key and has not changed. As
// no run will write it then, it sweeps what a killed run left, as far as that can be deleted.
func UpToDate(path, key string) (bool, error) {
	out, err := locate(Target{Path: path})
	if err != nil || out.info == nil || out.direct {
		return false, failure(path, "resolving it", err)
	}
	s := &Set{disk: system, outputs: []*output{out}}
	defer s.Discard()
	records, left, err := out.siblings(system)
	if lock, _ := system.lstat(out.beside(lockSuffix)); lock != nil || left != nil || len(records) > 1 {
		_ = s.lockAndSweep(out)                // perhaps not in a read-only folder, or beside a run
		records, _, err = out.siblings(system) // of which another run may have made one meanwhile
	}
	found := ""
	if err == nil && slices.ContainsFunc(records, func(r record) bool { return r.key == key }) {
		found, err = Fingerprint(out.real)
	}
	i := slices.IndexFunc(records, func(r record) bool { return r.key == key && r.content == found })
	for k, other := range records {
		if i >= 0 && k != i && out.lock != nil {
			_ = os.RemoveAll(other.path)
		}
	}
	return i >= 0, failure(path, "comparing it with its record", err)
}

// create creates the partial, so that a missing permission shows early; a device or FIFO has none.
func (s *Set) create(out *output) error {
	if out.target.Folder {
		out.content = &Folder{disk: s.disk, path: out.target.Path, kind: out.target.Kind}
	} else {
		out.content = &File{disk: s.disk, path: out.target.Path, direct: out.direct}
	}
	if out.direct {
		return nil
	}
	old := out.info
	if runtime.GOOS == "windows" {
		old = nil // on Windows new files have the permissions of their folder
	}
	out.partial = out.newHidden(partialSuffix) // set first: creating it may succeed and still return an error
	return s.disk("create", out.partial, func() error { return out.content.create(out.partial, old) })
}

// File returns the writer of the i-th target, which must be a file.
func (s *Set) File(i int) *File { return s.outputs[i].content.(*File) }

// Folder returns the folder of the i-th target, which must be one.
func (s *Set) Folder(i int) *Folder { return s.outputs[i].content.(*Folder) }

// Partial returns the path of the i-th output until Commit, or "" if it is a device or FIFO.
func (s *Set) Partial(i int) string { return s.outputs[i].partial }

// Complete completes every output under its hidden name: nothing more can be written, and the files
// at Partial can be read. Commit calls it if necessary.
func (s *Set) Complete() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return fs.ErrClosed
	case !s.completed:
		err = each(s.outputs, "completing it", func(out *output) error { return out.content.complete() })
		s.completed = err == nil
	}
	return err
}

// Commit completes every output, after all writes have returned, and then publishes them, back to
// back. After an error Discard removes what was not published; what was published stays.
func (s *Set) Commit() error {
	if err := s.Complete(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuseExisting(); err != nil {
		return err
	}
	if err := each(s.staged, "recording it", s.makeRecord); err != nil {
		return err
	}
	var obsolete []string
	first := each(s.staged, "publishing it", func(out *output) error {
		err := s.publish(out)
		if err == nil {
			out.record = "" // it stays
			obsolete = append(obsolete, out.stale...)
		}
		return err
	})
	// Also after an error: outputs that were published before it stay.
	if err := s.syncParents(); err != nil {
		return cmp.Or(first, err)
	}
	for _, path := range obsolete {
		_ = s.disk.on("removeAll", os.RemoveAll, path) // the next run sweeps what cannot be deleted now
	}
	if first == nil {
		s.end()
	}
	return first
}

// makeRecord makes the record of a complete output, not visible yet. A file without a key has none.
func (s *Set) makeRecord(out *output) (err error) {
	folder, isFolder := out.content.(*Folder)
	if !isFolder && out.target.Key == "" {
		return nil
	}
	listing, content, makeIt := digits(0), digits(0), makeDir
	if isFolder {
		listing, makeIt = digits(folder.listing), makeEmpty
	}
	if out.target.Key != "" {
		if content, err = resultOn(s.disk, "open", Fingerprint, out.partial); err != nil {
			return err
		}
	}
	key := cmp.Or(out.target.Key, digits(0))
	made := out.beside(hiddenInfix + listing + "-" + key + "-" + content + recordSuffix)
	if i := slices.Index(out.stale, made); i >= 0 { // from an earlier run with the same result
		out.stale = slices.Delete(out.stale, i, i+1)
		return nil
	}
	out.record = made // set first: making it may succeed and still return an error
	return s.disk.on("makeRecord", makeIt, made)
}

// syncParents makes the renames durable, in each folder in which names change. Until it has
// succeeded a replaced folder must stay: after a power failure it may be the target again.
func (s *Set) syncParents() (first error) {
	var dirs []string
	for _, out := range s.staged {
		dirs = append(dirs, filepath.Dir(out.real))
	}
	for _, dir := range s.parents {
		dirs = append(dirs, filepath.Dir(dir))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		first = cmp.Or(first, failure(dir, "syncing the folder of outputs", s.disk.on("syncDir", syncDir, dir)))
	}
	return first
}

// publish moves one output to its target. A rename replaces a file, or a folder if it is empty.
func (s *Set) publish(out *output) (err error) {
	switch {
	case out.occupied && !s.overwrite: // accepted by refuseExisting
		return nil
	case out.occupied && out.target.Folder:
		err = s.replaceFolder(out)
	case out.info != nil && out.target.Folder, s.overwrite && !out.target.Folder:
		err = s.disk.move("rename", rename, out.partial, out.real)
	default:
		err = s.moveNew(out)
	}
	switch {
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // another program made it meanwhile
		err = errExists
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.EBUSY):
		err = refusal("it cannot be renamed: it is a mount point, or in a lower layer of overlayfs,"+
			" such as the image of a container", "name a new file or folder, perhaps inside it")
	}
	return err
}

// moveNew moves the output to a name that must be free. If the file system has no such rename, a
// file is moved by a hard link, which also fails if the name is taken, and a folder by a plain
// rename, which can replace only an empty folder. Without hard links, the name is checked first.
func (s *Set) moveNew(out *output) error {
	err := s.disk.move("renameNew", renameNew, out.partial, out.real)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if !out.target.Folder {
		err = s.disk.move("link", os.Link, out.partial, out.real)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err // Set.end removes the other name: a crash before leaves a partial to sweep
		}
		if found, err := s.disk.lstat(out.real); err != nil || found != nil {
			return cmp.Or(err, fs.ErrExist)
		}
	}
	return s.disk.move("rename", rename, out.partial, out.real)
}

// replaceFolder replaces an old folder in one step, or else in two; see Replacing in doc.go.
func (s *Set) replaceFolder(out *output) error {
	made := out.partial
	old, operation, moveBack := made, "exchange", exchange
	err := s.disk.move(operation, exchange, old, out.real)
	twoSteps := errors.Is(err, errors.ErrUnsupported)
	if twoSteps {
		old, operation, moveBack = out.newHidden(oldSuffix), "rename", rename
		err = s.disk.move(operation, rename, out.real, old)
	}
	if err != nil {
		return err
	}
	if !twoSteps {
		out.partial = "" // its path now leads to the old folder, which Discard must not remove
	}
	err = out.refuseForeign(s.disk, old)
	if err == nil && twoSteps {
		err = s.disk.move("rename", rename, made, out.real)
	}
	if err == nil {
		out.stale = append(out.stale, old)
		return nil
	}
	if s.disk.move(operation, moveBack, old, out.real) != nil {
		return fault.New(fault.KindOf(err), "the old folder could not be put back and is now %s: %v", old, err).
			In(out.target.Path).Because(err).WithHint("rename it now: the next run with this output may delete it")
	}
	out.partial = made
	return err
}

// Discard removes every partial, releases the locks and removes the folders that were made for the
// targets, if they are empty. It has no effect after a successful Commit or a second time. It does
// not wait for a write that is stuck, whose file the next run may have to sweep.
func (s *Set) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.end()
		for _, dir := range slices.Backward(s.parents) {
			_ = s.disk.on("remove", os.Remove, dir)
		}
	}
}

// end closes and deletes what is not published, and releases the locks.
func (s *Set) end() {
	s.ended = true
	for _, out := range s.outputs {
		if out.content != nil {
			_ = out.content.close()
		}
		if out.partial != "" {
			_ = s.disk.on("removeAll", os.RemoveAll, out.partial) // what cannot be deleted is swept by the next run
		}
		if out.record != "" {
			_ = s.disk.on("remove", os.Remove, out.record)
		}
		if out.lock != nil {
			// A file that remains is empty, and the next run uses it. Windows deletes it in Close.
			_ = s.disk.on("unlink", os.Remove, out.lock.Name())
			_ = out.lock.Close()
		}
	}
}
