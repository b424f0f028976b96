package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
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
	resultsFolder  = "tasks"
)

// A folder is the storage of a target on a file system.
type folder struct {
	plan    *Plan
	target  *Target
	staging string
}

// path returns the path with the given elements in the staging folder.
func (f *folder) path(elements ...string) string {
	return filepath.Join(append([]string{f.staging}, elements...)...)
}

// attempt returns a new path for a part that is about to be made.
func (f *folder) attempt(file string) (string, error) {
	for _, name := range []string{attemptsFolder, partsFolder, resultsFolder} {
		if err := os.MkdirAll(f.path(name), 0o777); err != nil {
			return "", publish.Failure(f.target.Path, "making the folder for its parts", err)
		}
	}
	f.sweep(file)
	return f.path(attemptsFolder, randomName()+"-"+file), nil
}

// sweepAge is the minimum age of locks that sweep removes: the process that made a new one perhaps
// does not hold it yet.
const sweepAge = time.Minute

// sweep removes the files of killed attempts to make a part. Attempts that are running hold their
// locks, and are left alone.
func (f *folder) sweep(file string) {
	entries, _ := os.ReadDir(f.path(attemptsFolder)) // what is not swept is removed with the folder
	for _, e := range entries {
		base, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "."), ".idxport-lock")
		if !ok || !strings.Contains(base, file) {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		target := publish.Target{Path: f.path(attemptsFolder, base)}
		if set, err := publish.Prepare([]publish.Target{target}, publish.Options{}); err == nil {
			set.Discard()
		}
	}
}

func (f *folder) put(_ context.Context, attempt, part, result string, text []byte) error {
	existing := f.path(partsFolder, part)
	err := publish.Rename(attempt, existing)
	if errors.Is(err, fault.Exists) {
		err = checkSame(existing, attempt)
		_ = os.Remove(attempt) // otherwise it goes with the staging folder
	}
	if err != nil {
		return err
	}
	temporary := attempt + ".json"
	if err := writeFile(temporary, text, false); err != nil {
		return err
	}
	if err = publish.Rename(temporary, f.path(resultsFolder, result)); err != nil {
		_ = os.Remove(temporary) // otherwise it goes with the staging folder
	}
	return err
}

// checkSame returns an error unless the files at a and b are equal.
func checkSame(a, b string) error {
	x, err := publish.Fingerprint(a)
	if err != nil {
		return publish.Failure(a, "reading it", err)
	}
	y, err := publish.Fingerprint(b)
	if err == nil && x != y {
		return fail(fault.Refused, "run all parts with one version of idxport, on the inputs of the plan", "%s already exists, with different bytes", a)
	}
	return publish.Failure(b, "reading it", err)
}

func (f *folder) read(_ context.Context, result string) ([]byte, error) {
	return os.ReadFile(f.resultPath(result))
}

func (f *folder) resultPath(result string) string { return f.path(resultsFolder, result) }

func (f *folder) list(_ context.Context, kind listKind) ([]string, error) {
	switch kind {
	case leftovers:
		return names(f.staging)
	case delivered:
		return names(f.path(resultsFolder))
	}
	found, err := names(f.target.Path)
	if _, fileErr := os.Lstat(f.target.Path); fileErr == nil && errors.Is(err, syscall.ENOTDIR) {
		return nil, occupied(f.target.Path)
	}
	return found, publish.Failure(f.target.Path, "listing it", err)
}

// names returns the names in a folder, none if it does not exist.
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

func (f *folder) check(ctx context.Context, results []Result) error {
	err := forEach(ctx, runtime.GOMAXPROCS(0), len(results), func(ctx context.Context, i int) error {
		return f.checkPart(ctx, &results[i])
	})
	if err != nil {
		return err
	}
	if _, err := os.Lstat(f.target.Path); err == nil {
		return occupied(f.target.Path)
	}
	found, err := names(f.path(partsFolder))
	expected := f.plan.files(f.target)
	for _, name := range found {
		if err == nil && !expected[name] {
			err = fail(fault.Refused, "remove it, or start again: "+f.plan.adviseAbort(), "%s is not a part of the plan", f.path(partsFolder, name))
		}
	}
	return err
}

// checkPart compares a part with its result.
func (f *folder) checkPart(ctx context.Context, r *Result) error {
	file, err := os.Open(f.path(partsFolder, r.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return f.plan.lost(r, f.resultPath(f.plan.resultName(f.target, &Part{Index: r.Part})), "file")
	}
	if err != nil {
		return err
	}
	defer file.Close() // read-only: an error does not matter
	h := sha256.New()
	n, err := io.CopyBuffer(h, contextReader{ctx, file}, make([]byte, readBuffer))
	if sum := hex.EncodeToString(h.Sum(nil)); err == nil && (n != r.Bytes || sum != r.SHA256) {
		return fail(fault.Refused, f.plan.adviseAbort(), "part %d: found %d bytes with the SHA-256 %s, expected %d with %s", r.Part, n, sum, r.Bytes, r.SHA256)
	}
	return err
}

func (f *folder) publish(context.Context, []Result) error {
	dir := f.path(partsFolder)
	found, err := names(dir)
	if err != nil {
		return err
	}
	// Its cause is not errAborted, because another commit may have been faster: see Commit.
	gone := fail(fault.Refused, f.plan.adviseAbort(), "%s was aborted while this command ran", f.target.Path)
	expected := f.plan.files(f.target)
	delete(expected, success)
	if !hasAll(found, expected) { // after an abort, new attempts may have made some parts
		return gone
	}
	mark, err := os.OpenFile(filepath.Join(dir, success), os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = errors.Join(mark.Sync(), mark.Close(), publish.SyncDir(dir))
	}
	if err == nil {
		err = publish.Rename(dir, f.target.Path)
	}
	switch {
	case errors.Is(err, fault.Exists):
		return occupied(f.target.Path)
	case errors.Is(err, fs.ErrNotExist):
		return gone
	}
	return err
}

// remove renames the staging folder, so that no commit finds it any more, and deletes it, along
// with those that an interrupted remove has left. It does not touch the target, which does not
// exist before commit.
func (f *folder) remove(context.Context, bool) error {
	if err := os.Rename(f.staging, f.staging+"-"+randomName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// writeFile creates a file, which appears complete or not at all.
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
