package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/sink/publish"
)

// Commit makes the targets appear, each in one step, once all their parts are there with the sizes and hashes that their tasks told. What was
// committed before stays as it is: to commit twice is to commit once. It returns the tasks in the order of the parts, and whether there was nothing to do.
func (p *Plan) Commit(ctx context.Context) (told []Task, unchanged bool, err error) {
	missing, err := p.Missing()
	if err != nil {
		return nil, false, err
	}
	if len(missing) > 0 {
		return nil, false, fail(ErrIncomplete, "run them: idxport convert --plan … --part N; idxport status lists them", "%d of %d parts are missing: %s",
			len(missing), p.Parts(), Spec(missing))
	}
	unchanged = true
	for i := range p.Targets {
		t := &p.Targets[i]
		done, err := p.Committed(t)
		if err != nil {
			return nil, false, err
		}
		if !done {
			all, err := p.checkParts(ctx, t)
			if err == nil {
				err = p.appear(t)
			}
			if done, doneErr := p.Committed(t); err != nil && (doneErr != nil || !done) { // else another commit was faster
				return nil, false, err
			}
			told, unchanged = append(told, all...), false
		}
		p.Tidy(t)
	}
	return told, unchanged, nil
}

// checkParts reads all parts of t and compares them with what their tasks told. There must be no others.
func (p *Plan) checkParts(ctx context.Context, t *Target) ([]Task, error) {
	dir := filepath.Join(p.staging(t), parts)
	all := make([]Task, len(t.Parts))
	expected := map[string]bool{success: true} // a commit that was killed left it
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range t.Parts {
		part := &t.Parts[i]
		expected[p.FileName(t, part)] = true
		group.Go(func() error {
			task, err := p.Told(t, part)
			if err != nil {
				return err
			}
			if task == nil {
				return fail(ErrIncomplete, "run it, then commit again", "part %d is not there any more", part.Index)
			}
			all[i] = *task
			return checkFile(ctx, filepath.Join(dir, task.Name), task)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !expected[e.Name()] {
			return nil, fail(ErrIncomplete, "remove it, or idxport abort and begin again", "%s is no part of the plan", filepath.Join(dir, e.Name()))
		}
	}
	return all, nil
}

// checkFile compares a part with what its task told.
func checkFile(ctx context.Context, path string, task *Task) error {
	f, err := os.Open(path)
	if err != nil {
		return fail(ErrIncomplete, fmt.Sprintf("run it again: idxport abort, or remove its task, then --part %d", task.Part), "part %d was told of, but is not there", task.Part)
	}
	defer f.Close() // only read from
	h := sha256.New()
	n, err := readInto(ctx, h, f)
	if err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n != task.Bytes || sum != task.SHA256 {
		return fail(ErrIncomplete, "idxport abort, and begin again", "part %d: found %d bytes with the sha256 %s, expected %d with %s", task.Part, n, sum, task.Bytes, task.SHA256)
	}
	return nil
}

// appear makes the target of parts that were checked.
func (p *Plan) appear(t *Target) error {
	dir := filepath.Join(p.staging(t), parts)
	mark, err := os.OpenFile(filepath.Join(dir, success), os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = errors.Join(mark.Sync(), mark.Close(), publish.SyncDir(dir))
	}
	if err == nil {
		err = publish.Take(dir, t.Path)
	}
	if errors.Is(err, publish.ErrExists) {
		return fail(publish.ErrExists, "move it away, then commit again", "%s is there already, and is not what this plan makes", t.Path)
	}
	return err
}
