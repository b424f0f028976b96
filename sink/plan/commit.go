package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// storage returns the storage of a target.
func (p *Plan) storage(t *Target) storage {
	if object.IsURL(t.Path) {
		return &bucket{store: p.Objects, plan: p, target: t}
	}
	return p.folderOf(t)
}

func (p *Plan) folderOf(t *Target) *folder { return &folder{plan: p, target: t, staging: p.staging(t)} }

// Attempt returns a new path for a part that is about to be made: a file in an existing folder, or
// the URL of an object that must be staged, not committed.
func (p *Plan) Attempt(t *Target, part *Part) (string, error) {
	file := p.FileName(t, part)
	if object.IsURL(t.Path) {
		return source.Under(t.Path, file), nil
	}
	return p.folderOf(t).attempt(file)
}

// Discard removes an attempt that will not be delivered. upload is nil if the attempt is a file.
func (p *Plan) Discard(ctx context.Context, attempt string, upload *object.PendingUpload) error {
	if upload != nil {
		return p.Objects.Abort(ctx, attempt, *upload)
	}
	if err := os.Remove(attempt); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Result returns the result of a part, nil if it was not made.
func (p *Plan) Result(ctx context.Context, t *Target, part *Part) (*Result, error) {
	return p.resultIn(ctx, p.storage(t), t, part)
}

// Deliver moves the part that was made at attempt to its final name and records its result. Of r,
// the caller sets Bytes, SHA256 and Upload. If the part exists, it must have the same bytes.
func (p *Plan) Deliver(ctx context.Context, t *Target, part *Part, attempt string, r Result) error {
	r.PlanID, r.Tool, r.Part = p.ID, p.Tool, part.Index
	r.Name, r.Rows = p.FileName(t, part), part.Last-part.First
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = p.storage(t).put(ctx, attempt, r.Name, p.resultName(t, part), append(text, '\n'))
	if !errors.Is(err, fault.Exists) {
		return err
	}
	_ = p.Discard(ctx, attempt, r.Upload) // if this fails, commit removes it
	old, err := p.Result(ctx, t, part)
	if err == nil && old != nil && (old.Bytes != r.Bytes || old.SHA256 != r.SHA256 || old.Tool != r.Tool) {
		return fail(fault.Refused, p.adviseAbort()+" with one version of idxport", "part %d already exists, with different bytes", part.Index)
	}
	return err
}

// Missing returns the indices of the parts that were not made. There are none once the plan is
// committed.
func (p *Plan) Missing(ctx context.Context) (missing []int, err error) {
	for i := range p.Targets {
		t := &p.Targets[i]
		names, err := p.storage(t).list(ctx, delivered)
		exists := make(map[string]bool, len(names))
		for _, name := range names {
			exists[name] = true
		}
		var here []int
		for k := range t.Parts {
			if !exists[p.resultName(t, &t.Parts[k])] {
				here = append(here, t.Parts[k].Index)
			}
		}
		if err != nil || here != nil { // a commit may have ended, and removed the results
			done, doneErr := p.Committed(ctx, t)
			if doneErr != nil || !done && err != nil {
				return nil, errors.Join(err, doneErr)
			}
			if done {
				continue
			}
		}
		missing = append(missing, here...)
	}
	return missing, nil
}

// Committed reports whether the target is complete and visible.
func (p *Plan) Committed(ctx context.Context, t *Target) (bool, error) {
	return p.committedIn(ctx, p.storage(t), t)
}

// TargetExists reports whether anything exists at the path of the target.
func (p *Plan) TargetExists(ctx context.Context, t *Target) (bool, error) {
	if !object.IsURL(t.Path) {
		_, err := os.Lstat(t.Path)
		if errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EILSEQ) {
			return false, publish.Failure(t.Path, "cannot check it", err)
		}
		return err == nil, nil // the parts will report other errors
	}
	found, err := p.storage(t).list(ctx, visible)
	return len(found) > 0, err
}

// Commit makes the targets visible once all parts exist with the sizes and hashes (for objects, the
// ETags) of their results: a folder in one step, objects one after another. Committing twice is the
// same as committing once. It returns the results of each target in the order of its parts, nil for
// a target that was committed before.
func (p *Plan) Commit(ctx context.Context) (made [][]Result, err error) {
	missing, err := p.Missing(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		hint, are := fmt.Sprintf("run each of them: %s; to list them: %s", p.runCommand("N"), p.Command("status")), "are"
		if len(missing) == 1 {
			hint, are = "run it: "+p.runCommand(shortSpec(missing)), "is"
		}
		return nil, fail(fault.Refused, hint, "%d of %s %s missing: %s", len(missing), display.Count(p.Parts(), "part"), are, shortSpec(missing))
	}
	made = make([][]Result, len(p.Targets))
	for i := range p.Targets { // all of them, before one is visible
		if made[i], err = p.checkParts(ctx, &p.Targets[i]); err != nil {
			return nil, err
		}
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		if made[i] != nil {
			err := p.storage(t).publish(ctx, made[i])
			done, doneErr := p.Committed(ctx, t)
			switch {
			case doneErr != nil:
				return nil, doneErr
			case !done && err == nil:
				return nil, p.aborted(t)
			case !done, errors.Is(err, errAborted):
				return nil, err
			case err != nil: // another commit was faster
				made[i] = nil
			}
		}
		p.Tidy(ctx, t)
	}
	return made, nil
}

// maxReads limits how many results are read at the same time.
const maxReads = 16

// checkParts checks all parts of t and returns their results, nil if t is committed.
func (p *Plan) checkParts(ctx context.Context, t *Target) ([]Result, error) {
	done, err := p.Committed(ctx, t)
	if done || err != nil {
		return nil, err
	}
	all := make([]Result, len(t.Parts))
	err = forEach(ctx, maxReads, len(t.Parts), func(ctx context.Context, i int) error {
		r, err := p.Result(ctx, t, &t.Parts[i])
		if err == nil && r == nil {
			err = fail(fault.Refused, p.runCommand(t.Parts[i].Index)+", then commit again", "part %d was removed while this command ran", t.Parts[i].Index)
		}
		if err == nil {
			all[i] = *r
		}
		return err
	})
	if err == nil {
		err = p.storage(t).check(ctx, all)
	}
	if err == nil {
		return all, nil
	}
	if done, doneErr := p.Committed(ctx, t); doneErr == nil && done { // another commit was faster
		return nil, nil
	}
	return nil, err
}

// Tidy removes the results and attempts that are left beside a committed target. It ignores errors,
// as such leftovers are hidden and harmless.
func (p *Plan) Tidy(ctx context.Context, t *Target) { _ = p.storage(t).remove(ctx, true) }

// Abort removes the parts of the plan that are not committed.
func (p *Plan) Abort(ctx context.Context) error {
	for i := range p.Targets {
		if err := p.storage(&p.Targets[i]).remove(ctx, false); err != nil {
			return err
		}
	}
	return nil
}

// maxRanges limits the list of missing parts in messages.
const maxRanges = 10

// shortSpec returns the first maxRanges ranges of Spec.
func shortSpec(indices []int) string {
	ranges := strings.SplitN(Spec(indices), ",", maxRanges+1)
	if len(ranges) > maxRanges {
		ranges[maxRanges] = "…"
	}
	return strings.Join(ranges, ",")
}

// Spec formats ascending indices as schedulers accept them for array jobs: 3,7-9.
func Spec(indices []int) string {
	var ranges []string
	for i := 0; i < len(indices); {
		k := i
		for k+1 < len(indices) && indices[k+1] == indices[k]+1 {
			k++
		}
		text := fmt.Sprint(indices[i])
		if k > i {
			text += fmt.Sprintf("-%d", indices[k])
		}
		ranges = append(ranges, text)
		i = k + 1
	}
	return strings.Join(ranges, ",")
}
