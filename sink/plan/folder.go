package plan

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
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
	target  string
	staging string
}

func (f *folder) attempt(file string) (string, error) {
	for _, name := range []string{attemptsFolder, partsFolder, tasksFolder} {
		if err := os.MkdirAll(filepath.Join(f.staging, name), 0o777); err != nil {
			return "", publish.Failure(f.target, "making the folder where its parts wait", err)
		}
	}
	f.sweep(file)
	return filepath.Join(f.staging, attemptsFolder, random()+"-"+file), nil
}

// random is what no other run has.
func random() string {
	var bytes [8]byte
	_, _ = rand.Read(bytes[:]) // never fails, says its documentation
	return hex.EncodeToString(bytes[:])
}

// settled is how old a lock is before sweep tries it: one that is being made is not held for a moment.
const settled = time.Minute

// sweep removes what attempts of the part that were killed have left. The lock of one that goes on is held.
func (f *folder) sweep(file string) {
	const lock = ".idxport-lock"
	dir := filepath.Join(f.staging, attemptsFolder)
	entries, _ := os.ReadDir(dir) // what cannot be swept goes with the folder
	for _, e := range entries {
		base, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "."), lock)
		if !ok || !strings.Contains(base, file) {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < settled {
			continue
		}
		if set, err := publish.Prepare([]publish.Target{{Path: filepath.Join(dir, base)}}, publish.Options{}); err == nil {
			set.Discard()
		}
	}
}

func (f *folder) put(attempt, file string) error {
	there := filepath.Join(f.staging, partsFolder, file)
	err := publish.Take(attempt, there)
	if errors.Is(err, fault.Exists) {
		err = same(there, attempt)
		_ = os.Remove(attempt) // what remains goes with the staging folder
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

func (f *folder) tell(_ context.Context, attempt, file string, text []byte) error {
	attempt += ".json"
	if err := writeFile(attempt, text, false); err != nil {
		return err
	}
	err := publish.Take(attempt, filepath.Join(f.staging, tasksFolder, file))
	if err != nil {
		_ = os.Remove(attempt) // what remains goes with the staging folder
	}
	return err
}

func (f *folder) discard(_ context.Context, attempt string, _ *object.PendingUpload) error {
	if err := os.Remove(attempt); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *folder) read(_ context.Context, file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(f.staging, tasksFolder, file))
}

func (f *folder) tasks(context.Context) ([]string, error) {
	return list(filepath.Join(f.staging, tasksFolder))
}

func (f *folder) begun(context.Context) (bool, error) {
	_, err := os.Lstat(f.staging)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (f *folder) visible(context.Context) ([]string, error) {
	names, err := list(f.target)
	if _, fileErr := os.Lstat(f.target); fileErr == nil && errors.Is(err, syscall.ENOTDIR) {
		return nil, taken(f.target)
	}
	return names, publish.Failure(f.target, "listing it", err)
}

// list are the names in a folder; none if it is not there.
func list(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// parallel is for the hashes.
func (f *folder) parallel() int { return runtime.GOMAXPROCS(0) }

func (f *folder) check(ctx context.Context, task *Task) error {
	file, err := os.Open(filepath.Join(f.staging, partsFolder, task.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return notThere(task, filepath.Join(f.staging, tasksFolder))
	}
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	h := sha256.New()
	n, err := readInto(ctx, h, file)
	if err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n != task.Bytes || sum != task.SHA256 {
		return fail(fault.Refused, "idxport abort, and begin again", "part %d: found %d bytes with the sha256 %s, expected %d with %s", task.Part, n, sum, task.Bytes, task.SHA256)
	}
	return nil
}

// notThere is the error for a part of which only the task is left, in the folder or object told.
func notThere(task *Task, told string) error {
	return fail(fault.Refused, fmt.Sprintf("begin again after idxport abort; or remove what tells of it, %s, and run --part %d", shell.Path(told), task.Part),
		"part %d was made, but is not there any more", task.Part)
}

// stays is true: who removes a folder moves it away first.
func (f *folder) stays(context.Context) (bool, error) { return true, nil }

func (f *folder) alone(_ context.Context, expected map[string]bool) error {
	if _, err := os.Lstat(f.target); err == nil {
		return taken(f.target)
	}
	dir := filepath.Join(f.staging, partsFolder)
	found, err := list(dir)
	if err != nil {
		return err
	}
	for _, name := range found {
		if !expected[name] {
			return fail(fault.Refused, "remove it, or idxport abort and begin again", "%s is no part of the plan", filepath.Join(dir, name))
		}
	}
	return nil
}

func (f *folder) appear(_ context.Context, tasks []Task) error {
	dir := filepath.Join(f.staging, partsFolder)
	there, err := list(dir)
	if err != nil {
		return err
	}
	expected := make(map[string]bool, len(tasks))
	for _, task := range tasks {
		expected[task.Name] = true
	}
	if !has(there, expected) { // an abort may have come, and attempts that make parts anew
		return fail(fault.Refused, "run its parts again", "%s was aborted meanwhile", f.target)
	}
	mark, err := os.OpenFile(filepath.Join(dir, success), os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = errors.Join(mark.Sync(), mark.Close(), publish.SyncDir(dir))
	}
	if err == nil {
		err = publish.Take(dir, f.target)
	}
	switch {
	case errors.Is(err, fault.Exists):
		return taken(f.target)
	case errors.Is(err, fs.ErrNotExist):
		return fail(fault.Refused, "run its parts again", "%s was aborted meanwhile", f.target)
	}
	return err
}

// taken is the error for a target whose name something else has.
func taken(target string) error {
	return fail(fault.Exists, "move it away, then commit again", "%s is there already, and is not what this plan makes", target)
}

func (f *folder) tidy(context.Context) error { return f.clear() }

func (f *folder) abort(context.Context) error { return f.clear() }

// clear moves the staging folder out of the way, so that from then on no commit finds it, and removes it, and others that were left so.
func (f *folder) clear() error {
	if err := os.Rename(f.staging, f.staging+"-"+random()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent, base := filepath.Split(f.staging)
	found, err := list(filepath.Clean(parent))
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
