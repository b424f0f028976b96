package plan

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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
	// put keeps a part that was made at an attempt, and then the text of its task under its name.
	// If the part is there already, it must have the same bytes. fault.Exists says that there is
	// another task of that name.
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

// random is what no other run has.
func random() string {
	var bytes [8]byte
	_, _ = rand.Read(bytes[:]) // never fails, says its documentation
	return hex.EncodeToString(bytes[:])
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

// errUnreadable is the cause where what a task tells is not what it should be.
var errUnreadable = errors.New("unreadable")

// toldAt is the task of a part, if it was made.
func (p *Plan) toldAt(ctx context.Context, at place, t *Target, part *Part) (*Task, error) {
	name := p.taskName(t, part)
	text, err := at.read(ctx, name)
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

// committedAt reports whether the target is there, with all that this plan makes.
func (p *Plan) committedAt(ctx context.Context, at place, t *Target) (bool, error) {
	found, err := at.list(ctx, visible)
	return err == nil && has(found, p.files(t)), err
}

// errAborted is the cause where a commit met an abort, and adviceAbort what helps where parts are
// not what they should be.
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
