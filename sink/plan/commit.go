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

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// at is the place of a target.
func (p *Plan) at(t *Target) place {
	if object.IsURL(t.Path) {
		return &bucket{store: p.Objects, plan: p, target: t}
	}
	return p.folderOf(t)
}

func (p *Plan) folderOf(t *Target) *folder { return &folder{plan: p, target: t, staging: p.staging(t)} }

// Attempt is a new name for a part on its way: a file in a folder that it makes, or an object that
// must be staged, not published.
func (p *Plan) Attempt(t *Target, part *Part) (string, error) {
	file := p.FileName(t, part)
	if object.IsURL(t.Path) {
		return source.Under(t.Path, file), nil
	}
	return p.folderOf(t).attempt(file)
}

// Discard removes what was made at an attempt, which is not to be delivered; upload is nil for a
// file.
func (p *Plan) Discard(ctx context.Context, attempt string, upload *object.PendingUpload) error {
	if upload != nil {
		return p.Objects.Abort(ctx, attempt, *upload)
	}
	if err := os.Remove(attempt); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Told is the task of a part, if it was made.
func (p *Plan) Told(ctx context.Context, t *Target, part *Part) (*Task, error) {
	return p.toldAt(ctx, p.at(t), t, part)
}

// Deliver puts the part at attempt, which is complete, in its place, and tells of it. If it is
// there already, it must have the same bytes.
func (p *Plan) Deliver(ctx context.Context, t *Target, part *Part, attempt string, task Task) error {
	task.PlanID, task.Tool, task.Part = p.ID, p.Tool, part.Index
	task.Name, task.Rows = p.FileName(t, part), part.Last-part.First
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	err = p.at(t).put(ctx, attempt, task.Name, p.taskName(t, part), append(text, '\n'))
	if !errors.Is(err, fault.Exists) {
		return err
	}
	_ = p.Discard(ctx, attempt, task.Upload) // else commit does
	old, err := p.Told(ctx, t, part)
	if err == nil && old != nil && (old.Bytes != task.Bytes || old.SHA256 != task.SHA256 || old.Tool != task.Tool) {
		return fail(fault.Refused, adviceAbort+" with one version of the program", "part %d was told with another content", part.Index)
	}
	return err
}

// Missing are the indices of the parts that were not told of. There are none once the plan is
// committed.
func (p *Plan) Missing(ctx context.Context) ([]int, error) {
	var missing []int
	for i := range p.Targets {
		t := &p.Targets[i]
		names, err := p.at(t).list(ctx, told)
		was := make(map[string]bool, len(names))
		for _, name := range names {
			was[name] = true
		}
		var some []int
		for k := range t.Parts {
			if !was[p.taskName(t, &t.Parts[k])] {
				some = append(some, t.Parts[k].Index)
			}
		}
		if err != nil || some != nil { // a commit may have ended meanwhile, and removed what tells of the parts
			done, doneErr := p.Committed(ctx, t)
			if doneErr != nil || !done && err != nil {
				return nil, errors.Join(err, doneErr)
			}
			if done {
				continue
			}
		}
		missing = append(missing, some...)
	}
	return missing, nil
}

// Committed reports whether the target is there, with all that this plan makes.
func (p *Plan) Committed(ctx context.Context, t *Target) (bool, error) {
	return p.committedAt(ctx, p.at(t), t)
}

// There reports whether there is something where the target shall be.
func (p *Plan) There(ctx context.Context, t *Target) (bool, error) {
	if !object.IsURL(t.Path) {
		_, err := os.Lstat(t.Path)
		if errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EILSEQ) {
			return false, publish.Failure(t.Path, "looking at it", err)
		}
		return err == nil, nil // what else it is, the parts will find
	}
	found, err := p.at(t).list(ctx, visible)
	return len(found) > 0, err
}

// Commit makes the targets visible, once all their parts are there with the sizes and hashes that
// their tasks told: a folder in one step, objects one after another. What was committed before
// stays as it is: to commit twice is to commit once. For each target it returns the tasks in the
// order of the parts, or none where there was nothing to do.
func (p *Plan) Commit(ctx context.Context) (made [][]Task, err error) {
	missing, err := p.Missing(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		advice := fmt.Sprintf("run them: idxport convert --plan %s --part N; idxport status lists them", shell.Path(p.path))
		return nil, fail(fault.Refused, advice, "%d of %d parts are missing: %s", len(missing), p.Parts(), shortSpec(missing))
	}
	made = make([][]Task, len(p.Targets))
	for i := range p.Targets { // all of them, before one is visible
		if made[i], err = p.checkParts(ctx, &p.Targets[i]); err != nil {
			return nil, err
		}
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		if made[i] != nil {
			err := p.at(t).publish(ctx, made[i])
			done, doneErr := p.Committed(ctx, t)
			switch {
			case doneErr != nil:
				return nil, doneErr
			case !done && err == nil:
				return nil, aborted(t)
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

// tasksAtOnce is how many tasks are read at once.
const tasksAtOnce = 16

// checkParts compares all parts of t with what their tasks told. There must be no others. There are
// no tasks if t is committed.
func (p *Plan) checkParts(ctx context.Context, t *Target) ([]Task, error) {
	done, err := p.Committed(ctx, t)
	if done || err != nil {
		return nil, err
	}
	all := make([]Task, len(t.Parts))
	err = each(ctx, tasksAtOnce, len(t.Parts), func(ctx context.Context, i int) error {
		task, err := p.Told(ctx, t, &t.Parts[i])
		if err == nil && task == nil {
			err = fail(fault.Refused, "run it, then commit again", "part %d is not there any more", t.Parts[i].Index)
		}
		if err == nil {
			all[i] = *task
		}
		return err
	})
	if err == nil {
		err = p.at(t).check(ctx, all)
	}
	if err == nil {
		return all, nil
	}
	if done, doneErr := p.Committed(ctx, t); doneErr == nil && done { // another commit was faster
		return nil, nil
	}
	return nil, err
}

// Tidy removes what is left beside a target that was committed: tasks, and attempts that nobody
// needs. What remains is hidden and disturbs nobody.
func (p *Plan) Tidy(ctx context.Context, t *Target) { _ = p.at(t).remove(ctx, true) }

// Abort removes what the parts of the plan have made, but nothing that was committed.
func (p *Plan) Abort(ctx context.Context) error {
	for i := range p.Targets {
		if err := p.at(&p.Targets[i]).remove(ctx, false); err != nil {
			return err
		}
	}
	return nil
}

// mostRanges are as many as messages list.
const mostRanges = 10

// shortSpec is Spec, or its beginning.
func shortSpec(indices []int) string {
	ranges := strings.SplitN(Spec(indices), ",", mostRanges+1)
	if len(ranges) > mostRanges {
		ranges[mostRanges] = "…"
	}
	return strings.Join(ranges, ",")
}

// Spec writes indices, which rise, as schedulers take them for arrays: 3,7-9.
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
