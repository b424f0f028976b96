package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/publish"
)

// Folders of a staging folder.
const (
	attemptsFolder = "attempts"
	partsFolder    = "parts"
	tasksFolder    = "tasks"
)

// A folder is the place of a target on a file system.
type folder struct {
	plan    *Plan
	target  *Target
	staging string
}

// in is the path of what is in a folder of the staging folder.
func (f *folder) in(name ...string) string {
	return filepath.Join(append([]string{f.staging}, name...)...)
}

func (f *folder) attempt(file string) (string, error) {
	for _, name := range []string{attemptsFolder, partsFolder, tasksFolder} {
		if err := os.MkdirAll(f.in(name), 0o777); err != nil {
			return "", publish.Failure(f.target.Path, "making the folder where its parts wait", err)
		}
	}
	f.sweep(file)
	return f.in(attemptsFolder, random()+"-"+file), nil
}

// settled is how old a lock is before sweep tries it: one that is being made is not held for a
// moment.
const settled = time.Minute

// sweep removes what attempts of the part that were killed have left. The lock of one that goes on
// is held.
func (f *folder) sweep(file string) {
	entries, _ := os.ReadDir(f.in(attemptsFolder)) // what cannot be swept goes with the folder
	for _, e := range entries {
		base, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "."), ".idxport-lock")
		if !ok || !strings.Contains(base, file) {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < settled {
			continue
		}
		target := publish.Target{Path: f.in(attemptsFolder, base)}
		if set, err := publish.Prepare([]publish.Target{target}, publish.Options{}); err == nil {
			set.Discard()
		}
	}
}

func (f *folder) put(_ context.Context, attempt, part, task string, text []byte) error {
	there := f.in(partsFolder, part)
	err := publish.Take(attempt, there)
	if errors.Is(err, fault.Exists) {
		err = same(there, attempt)
		_ = os.Remove(attempt) // what remains goes with the staging folder
	}
	if err != nil {
		return err
	}
	told := attempt + ".json"
	if err := writeFile(told, text, false); err != nil {
		return err
	}
	if err = publish.Take(told, f.in(tasksFolder, task)); err != nil {
		_ = os.Remove(told) // likewise
	}
	return err
}

// same is nil if the files at a and b are equal.
func same(a, b string) error {
	x, err := publish.Fingerprint(a)
	if err != nil {
		return publish.Failure(a, "reading it", err)
	}
	y, err := publish.Fingerprint(b)
	if err == nil && x != y {
		return fail(fault.Refused, "run all parts with one version of the program, on the inputs of the plan", "%s is there with other bytes", a)
	}
	return publish.Failure(b, "reading it", err)
}

func (f *folder) read(_ context.Context, task string) ([]byte, error) {
	return os.ReadFile(f.in(tasksFolder, task))
}

func (f *folder) list(_ context.Context, what listed) ([]string, error) {
	switch what {
	case begun:
		return names(f.staging)
	case told:
		return names(f.in(tasksFolder))
	}
	found, err := names(f.target.Path)
	if _, fileErr := os.Lstat(f.target.Path); fileErr == nil && errors.Is(err, syscall.ENOTDIR) {
		return nil, taken(f.target.Path)
	}
	return found, publish.Failure(f.target.Path, "listing it", err)
}

// names are those in a folder; none if it is not there.
func names(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

func (f *folder) check(ctx context.Context, tasks []Task) error {
	err := each(ctx, runtime.GOMAXPROCS(0), len(tasks), func(ctx context.Context, i int) error {
		return f.checkPart(ctx, &tasks[i])
	})
	if err != nil {
		return err
	}
	if _, err := os.Lstat(f.target.Path); err == nil {
		return taken(f.target.Path)
	}
	found, err := names(f.in(partsFolder))
	if err != nil {
		return err
	}
	expected := f.plan.files(f.target)
	for _, name := range found {
		if !expected[name] {
			return fail(fault.Refused, "remove it, or idxport abort and begin again", "%s is no part of the plan", f.in(partsFolder, name))
		}
	}
	return nil
}

// checkPart compares a part with what its task told.
func (f *folder) checkPart(ctx context.Context, task *Task) error {
	file, err := os.Open(f.in(partsFolder, task.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return notThere(task, f.in(tasksFolder))
	}
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	h := sha256.New()
	n, err := readInto(ctx, h, file)
	if sum := hex.EncodeToString(h.Sum(nil)); err == nil && (n != task.Bytes || sum != task.SHA256) {
		return fail(fault.Refused, adviceAbort, "part %d: found %d bytes with the sha256 %s, expected %d with %s",
			task.Part, n, sum, task.Bytes, task.SHA256)
	}
	return err
}

func (f *folder) publish(context.Context, []Task) error {
	dir := f.in(partsFolder)
	there, err := names(dir)
	if err != nil {
		return err
	}
	gone := fail(fault.Refused, "run its parts again", "%s was aborted meanwhile", f.target.Path)
	expected := f.plan.files(f.target)
	delete(expected, success)
	if !has(there, expected) { // an abort may have come, and attempts that make parts anew
		return gone
	}
	mark, err := os.OpenFile(filepath.Join(dir, success), os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = errors.Join(mark.Sync(), mark.Close(), publish.SyncDir(dir))
	}
	if err == nil {
		err = publish.Take(dir, f.target.Path)
	}
	switch {
	case errors.Is(err, fault.Exists):
		return taken(f.target.Path)
	case errors.Is(err, fs.ErrNotExist):
		return gone
	}
	return err
}

// remove moves the staging folder out of the way, so that from then on no commit finds it, and
// removes it, and others that were left so. There is nothing of a target that was not committed.
func (f *folder) remove(context.Context, bool) error {
	if err := os.Rename(f.staging, f.staging+"-"+random()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent, base := filepath.Split(f.staging)
	found, err := names(filepath.Clean(parent))
	for _, name := range found {
		if strings.HasPrefix(name, base+"-") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(parent, name)))
		}
	}
	return err
}

// writeFile makes a file that appears whole.
func writeFile(path string, text []byte, overwrite bool) error {
	set, err := publish.Prepare([]publish.Target{{Path: path}}, publish.Options{Overwrite: overwrite})
	if err != nil {
		return err
	}
	defer set.Discard() // no effect after Commit
	if _, err := set.File(0).Write(text); err != nil {
		return err
	}
	return set.Commit()
}
