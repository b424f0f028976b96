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

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
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

// A place is where a target is, and what waits for it. Parts and tasks have names without folders.
type place interface {
	// put keeps a part that was made at an attempt, and then the text of its task under its name. If
	// the part is there already, it must have the same bytes. fault.Exists says that there is another
	// task of that name.
	put(ctx context.Context, attempt, part, task string, text []byte) error
	// read returns the text of a task. What is not there is fs.ErrNotExist.
	read(ctx context.Context, task string) ([]byte, error)
	// list returns the names of some of what is there; none if there is nothing.
	list(ctx context.Context, what listed) ([]string, error)
	// check fails unless all parts are what their tasks told, and there is nothing else where they
	// will be visible.
	check(ctx context.Context, tasks []Task) error
	// publish makes the target visible, of all parts, which were checked.
	publish(ctx context.Context, tasks []Task) error
	// remove removes what waits beside the target: attempts, parts and tasks; and if it was not
	// committed what is visible of it.
	remove(ctx context.Context, committed bool) error
}

// A listed is what place.list lists.
type listed int

const (
	visible listed = iota // what is in the target, but for a _SUCCESS that somebody is about to remove
	told                  // the tasks
	begun                 // whatever parts have left that only remove removes
)

// at is the place of a target.
func (p *Plan) at(t *Target) place {
	if object.IsURL(t.Path) {
		return &bucket{store: p.Objects, plan: p, target: t}
	}
	return p.folderOf(t)
}

func (p *Plan) folderOf(t *Target) *folder { return &folder{plan: p, target: t, staging: p.staging(t)} }

// staging is the folder where the parts of t wait.
func (p *Plan) staging(t *Target) string { return beside(t, ".idxport-plan-"+p.short()) }

// asideBytes is how much longer the name of a staging folder becomes that is moved aside: a hyphen
// and what random returns.
const asideBytes = 1 + 16

// beside is the hidden name beside a target that ends so. It may become longer by asideBytes.
func beside(t *Target, ending string) string {
	name := publish.Hidden(source.Base(t.Path), ending+strings.Repeat("-", asideBytes))
	return source.Under(source.Above(t.Path), name[:len(name)-asideBytes])
}

// files are the names that the target will hold.
func (p *Plan) files(t *Target) map[string]bool {
	names := map[string]bool{success: true}
	for i := range t.Parts {
		names[p.FileName(t, &t.Parts[i])] = true
	}
	return names
}

// has reports whether all that is expected is among the names that were found, which are different.
func has(found []string, expected map[string]bool) bool {
	n := 0
	for _, name := range found { // others may have put more beside: an index, statistics
		if expected[name] {
			n++
		}
	}
	return n == len(expected)
}

// taskName is the file in which a part is told of.
func (p *Plan) taskName(t *Target, part *Part) string {
	return strings.TrimSuffix(p.FileName(t, part), t.Extension) + ".json"
}

// each calls f with 0 to n−1, so many at once, until one fails.
func each(ctx context.Context, atOnce, n int, f func(ctx context.Context, i int) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error { return f(inner, i) })
	}
	return group.Wait()
}

// Attempt is a new name for a part on its way: a file in a folder that it makes, or an object that
// must be staged, not published.
func (p *Plan) Attempt(t *Target, part *Part) (string, error) {
	file := p.FileName(t, part)
	if object.IsURL(t.Path) {
		return source.Under(t.Path, file), nil
	}
	return p.folderOf(t).attempt(file)
}

// Discard removes what was made at an attempt, which is not to be delivered; upload is nil for a file.
func (p *Plan) Discard(ctx context.Context, attempt string, upload *object.PendingUpload) error {
	if upload != nil {
		return p.Objects.Abort(ctx, attempt, *upload)
	}
	if err := os.Remove(attempt); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// errUnreadable is the cause where what a task tells is not what it should be.
var errUnreadable = errors.New("unreadable")

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
		return nil, fail(fault.Refused, adviceAbort, "task %s: %v", name, err).Because(errUnreadable)
	}
	if task.PlanID != p.ID || task.Part != part.Index || task.Name != p.FileName(t, part) || task.Rows != part.Last-part.First {
		return nil, fail(fault.Refused, adviceAbort, "task %s: it tells of another part", name).Because(errUnreadable)
	}
	return task, nil
}

// Deliver puts the part at attempt, which is complete, in its place, and tells of it. If it is there
// already, it must have the same bytes.
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
	found, err := p.at(t).list(ctx, visible)
	return err == nil && has(found, p.files(t)), err
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
// their tasks told: a folder in one step, objects one after another. What was committed before stays
// as it is: to commit twice is to commit once. For each target it returns the tasks in the order of
// the parts, or none where there was nothing to do.
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

// checkParts compares all parts of t with what their tasks told. There must be no others. There are no
// tasks if t is committed.
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

// Tidy removes what is left beside a target that was committed: tasks, and attempts that nobody needs.
// What remains is hidden and disturbs nobody.
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

// errAborted is the cause where a commit met an abort, and adviceAbort what helps where parts are not
// what they should be.
var errAborted = errors.New("aborted")

const adviceAbort = "idxport abort, and begin again"

// aborted is the error for a commit that met an abort.
func aborted(t *Target) error {
	return fail(fault.Refused, "let it end, or end it: idxport abort; then run the parts again",
		"%s is being aborted, or was aborted meanwhile", t.Path).Because(errAborted)
}

// taken is the error for a target whose name something else has.
func taken(target string) error {
	return fail(fault.Exists, "move it away, then commit again", "%s is there already, and is not what this plan makes", target)
}

// notThere is the error for a part of which only the task is left, in the folder or object told.
func notThere(task *Task, told string) error {
	advice := fmt.Sprintf("begin again after idxport abort; or remove what tells of it, %s, and run --part %d", shell.Path(told), task.Part)
	return fail(fault.Refused, advice, "part %d was made, but is not there any more", task.Part)
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
