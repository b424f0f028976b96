package plan

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/publish"
)

// success is the empty file that tells readers that a folder of parts is whole.
const success = "_SUCCESS"

// A Task is what a run that made a part tells of it.
type Task struct {
	PlanID string `json:"plan_id"`
	Tool   string `json:"tool"`
	Part   int    `json:"part"`
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Upload is what makes an object of the part; nil where it is a file.
	Upload *object.PendingUpload `json:"upload,omitempty"`
}

// Attempt is a new name for a part on its way: a file in a folder that it makes, or an object that must be held, not published.
func (p *Plan) Attempt(t *Target, part *Part) (string, error) {
	return p.at(t).attempt(p.FileName(t, part))
}

// Discard removes what was made at attempt, which is not to be delivered; upload is nil for a file.
func (p *Plan) Discard(ctx context.Context, t *Target, attempt string, upload *object.PendingUpload) error {
	return p.at(t).discard(ctx, attempt, upload)
}

// Told is the task of a part, if it was made.
func (p *Plan) Told(ctx context.Context, t *Target, part *Part) (*Task, error) {
	name := p.taskName(t, part)
	text, err := p.at(t).read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	task := &Task{}
	if err := json.Unmarshal(text, task); err != nil {
		return nil, fail(fault.Refused, "idxport abort, and begin again", "task %s: %v", name, err).Because(errUnreadable)
	}
	if task.PlanID != p.ID || task.Part != part.Index || task.Name != p.FileName(t, part) || task.Rows != part.Last-part.First {
		return nil, fail(fault.Refused, "idxport abort, and begin again", "task %s: it tells of another part", name).Because(errUnreadable)
	}
	return task, nil
}

// Deliver puts the part at attempt, which is complete, in its place, and tells of it. If it is there already, it must have the same bytes.
func (p *Plan) Deliver(ctx context.Context, t *Target, part *Part, attempt string, task Task) error {
	task.PlanID, task.Tool, task.Part, task.Name, task.Rows = p.ID, p.Tool, part.Index, p.FileName(t, part), part.Last-part.First
	at := p.at(t)
	if err := at.put(attempt, task.Name); err != nil {
		return err
	}
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	err = at.tell(ctx, attempt, p.taskName(t, part), append(text, '\n'))
	if !errors.Is(err, fault.Exists) {
		return err
	}
	_ = at.discard(ctx, attempt, task.Upload) // else commit does
	old, err := p.Told(ctx, t, part)
	if err == nil && old != nil && (old.Bytes != task.Bytes || old.SHA256 != task.SHA256 || old.Tool != task.Tool) {
		return fail(fault.Refused, "idxport abort, and begin again with one version of the program", "part %d was told with another content", part.Index)
	}
	return err
}

// Missing are the indices of the parts that were not told of. There are none once the plan is committed.
func (p *Plan) Missing(ctx context.Context) ([]int, error) {
	var missing []int
	for i := range p.Targets {
		t := &p.Targets[i]
		some, err := p.missingOf(ctx, t)
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

// missingOf are the indices of the parts of t that were not told of.
func (p *Plan) missingOf(ctx context.Context, t *Target) (missing []int, err error) {
	names, err := p.at(t).tasks(ctx)
	if err != nil {
		return nil, err
	}
	told := make(map[string]bool, len(names))
	for _, name := range names {
		told[name] = true
	}
	for k := range t.Parts {
		if !told[p.taskName(t, &t.Parts[k])] {
			missing = append(missing, t.Parts[k].Index)
		}
	}
	return missing, nil
}

// Committed tells whether the target is there, with all that this plan makes.
func (p *Plan) Committed(ctx context.Context, t *Target) (bool, error) {
	found, err := p.at(t).visible(ctx)
	if err != nil || len(found) <= len(t.Parts) {
		return false, err
	}
	if !has(found, p.files(t)) {
		return false, nil
	}
	return p.at(t).stays(ctx)
}

// There tells whether there is something where the target shall be.
func (p *Plan) There(ctx context.Context, t *Target) (bool, error) {
	if !object.IsURL(t.Path) {
		_, err := os.Lstat(t.Path)
		if errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EILSEQ) {
			return false, publish.Failure(t.Path, "looking at it", err)
		}
		return err == nil, nil // what else it is, the parts will find
	}
	found, err := p.at(t).visible(ctx)
	return len(found) > 0, err
}

// Reads tells whether path is an input of t.
func (t *Target) Reads(path string) bool {
	return slices.ContainsFunc(t.Inputs, func(in Input) bool { return in.Path == path })
}

// Tidy removes what is left beside a target that was committed: tasks, and attempts that nobody needs. What remains is hidden and disturbs nobody.
func (p *Plan) Tidy(ctx context.Context, t *Target) { _ = p.at(t).tidy(ctx) }

// Abort removes what the parts of the plan have made, but nothing that was committed.
func (p *Plan) Abort(ctx context.Context) error {
	for i := range p.Targets {
		if err := p.at(&p.Targets[i]).abort(ctx); err != nil {
			return err
		}
	}
	return nil
}
