package plan

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// A place is where a target is, and what waits for it. Files are parts and tasks by their names, without folders.
type place interface {
	// attempt is where a part may be made. What was made there is put where commit finds it; if there is one already, it must have the same bytes.
	attempt(file string) (string, error)
	put(attempt, file string) error
	// tell keeps the text of a task under its name; fault.Exists says that there is another. discard removes what was made at an attempt
	// and is not told of, if it is still there.
	tell(ctx context.Context, attempt, file string, text []byte) error
	discard(ctx context.Context, attempt string, upload *object.PendingUpload) error
	// read returns the text of a task, and tasks the names of all. What is not there is fs.ErrNotExist, and no names.
	read(ctx context.Context, file string) ([]byte, error)
	tasks(ctx context.Context) ([]string, error)
	// begun tells whether parts have left something that only abort or commit removes.
	begun(ctx context.Context) (bool, error)
	// visible are the names in the target; none if it is not there. stays tells whether nobody is about to remove them.
	visible(ctx context.Context) ([]string, error)
	stays(ctx context.Context) (bool, error)
	// check compares a part with what its task told, so many at once. alone demands that there is nothing but what is expected where the parts will be seen.
	check(ctx context.Context, task *Task) error
	parallel() int
	alone(ctx context.Context, expected map[string]bool) error
	// appear makes the target of all parts, which were checked.
	appear(ctx context.Context, tasks []Task) error
	// tidy removes what waits beside a target that was committed: attempts, parts and tasks. abort removes it beside one that was not, with what is seen of it.
	tidy(ctx context.Context) error
	abort(ctx context.Context) error
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

// has tells whether all that is expected is among the names that were found, which are different.
func has(found []string, expected map[string]bool) bool {
	n := 0
	for _, name := range found { // others may have put more beside: an index, statistics
		if expected[name] {
			n++
		}
	}
	return n == len(expected)
}

// at is the place of a target.
func (p *Plan) at(t *Target) place {
	if object.IsURL(t.Path) {
		return &bucket{store: p.Objects, plan: p, target: t}
	}
	return &folder{target: t.Path, staging: p.staging(t)}
}

// staging is the folder where the parts of t wait.
func (p *Plan) staging(t *Target) string { return beside(t, ".idxport-plan-"+p.short()) }

// asideBytes is how much longer the name of a staging folder becomes that is moved aside: a hyphen and what random returns.
const asideBytes = 1 + 16

// beside is the hidden name beside a target that ends so. It may become longer by asideBytes.
func beside(t *Target, ending string) string {
	name := publish.Hidden(source.Base(t.Path), ending+strings.Repeat("-", asideBytes))
	return source.Under(source.Above(t.Path), name[:len(name)-asideBytes])
}

// files are the names that the target will hold.
func (p *Plan) files(t *Target) map[string]bool {
	names := make(map[string]bool, len(t.Parts)+1)
	names[success] = true
	for i := range t.Parts {
		names[p.FileName(t, &t.Parts[i])] = true
	}
	return names
}

// taskName is the file in which a part is told of.
func (p *Plan) taskName(t *Target, part *Part) string {
	return strings.TrimSuffix(p.FileName(t, part), t.Extension) + ".json"
}
