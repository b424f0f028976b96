package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/source"
)

// A bucket is the place of a target in object storage. Parts are uploads that are whole and unseen,
// under the keys that they shall have; commit makes them visible, one after another, and _SUCCESS
// last.
type bucket struct {
	store  *object.Store
	plan   *Plan
	target *Target
	run    string // of the last claim
}

const (
	requests = 16      // on their way at once
	mostTask = 4 << 20 // bytes: a task tells of up to 10,000 parts of an upload
)

// taskFolder is the prefix that tasks are below, without a slash at its end.
func (b *bucket) taskFolder() string { return source.Under(b.plan.staging(b.target), tasksFolder) }

func (b *bucket) put(ctx context.Context, _, _, task string, text []byte) error {
	return b.store.Put(ctx, source.Under(b.taskFolder(), task), text, false)
}

func (b *bucket) read(ctx context.Context, task string) ([]byte, error) {
	return b.store.Get(ctx, source.Under(b.taskFolder(), task), mostTask)
}

func (b *bucket) list(ctx context.Context, what listed) (names []string, err error) {
	if what == visible {
		names, err = b.names(ctx, b.target.Path)
		if err == nil && slices.Contains(names, success) {
			var now *claim
			if now, err = b.claimant(ctx); now.ours(b, aborting) {
				names = slices.DeleteFunc(names, func(name string) bool { return name == success })
			}
		}
		return names, err
	}
	names, err = b.names(ctx, b.taskFolder())
	if err != nil || what == told || len(names) > 0 {
		return names, err
	}
	now, err := b.claimant(ctx)
	if now != nil && now.Plan == b.plan.ID {
		names = append(names, b.claimed())
	}
	return names, err
}

// names are those right below a prefix.
func (b *bucket) names(ctx context.Context, prefix string) (names []string, err error) {
	entries, err := b.store.ReadDir(ctx, prefix+"/")
	if errors.Is(err, fault.NotFound) { // a prefix always exists
		return nil, fault.New(fault.Refused, "the bucket does not exist").In(b.target.Path).WithHint("make the bucket, or check its name")
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (b *bucket) check(ctx context.Context, tasks []Task) error {
	err := each(ctx, requests, len(tasks), func(ctx context.Context, i int) error {
		task := &tasks[i]
		if task.Upload == nil || task.Upload.Bytes != task.Bytes {
			return fail(fault.Refused, adviceAbort, "part %d: its task does not tell of its upload", task.Part)
		}
		return b.meaning(task, b.store.Check(ctx, source.Under(b.target.Path, task.Name), *task.Upload))
	})
	if err != nil {
		return err
	}
	return b.alone(ctx)
}

// meaning is what an error means of looking for an upload or making it visible.
func (b *bucket) meaning(task *Task, err error) error {
	switch {
	case errors.Is(err, fault.Exists):
		return taken(b.target.Path + "/" + task.Name)
	case errors.Is(err, object.ErrNoUpload), errors.Is(err, fault.Malformed):
		return notThere(task, source.Under(b.taskFolder(), b.plan.taskName(b.target, &Part{Index: task.Part})))
	}
	return err
}

// alone fails if there is anything but the plan's where its parts will be visible.
func (b *bucket) alone(ctx context.Context) error {
	info, err := b.store.Stat(ctx, b.target.Path)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return taken(b.target.Path)
	}
	found, err := b.names(ctx, b.target.Path)
	if err != nil {
		return err
	}
	expected := b.plan.files(b.target)
	for _, name := range found {
		if !expected[name] {
			return taken(b.target.Path + "/")
		}
	}
	return nil
}

// publish claims the target, so that no other plan's parts are visible beside these, and makes the
// parts visible. Who aborts writes into the claim and then looks for _SUCCESS; here _SUCCESS is
// written and then the claim is looked at: if both are at it, at least one sees the other, and
// commit gives way.
func (b *bucket) publish(ctx context.Context, tasks []Task) error {
	fresh, err := b.claim(ctx, committing)
	if err != nil {
		return err
	}
	if err := b.alone(ctx); err != nil {
		if fresh {
			err = errors.Join(err, b.release(ctx, committing))
		}
		return err
	}
	err = each(ctx, requests, len(tasks), func(ctx context.Context, i int) error {
		return b.meaning(&tasks[i], b.store.Publish(ctx, source.Under(b.target.Path, tasks[i].Name), *tasks[i].Upload))
	})
	if err != nil {
		return err
	}
	return b.mark(context.WithoutCancel(ctx))
}

// mark puts _SUCCESS, and takes it away again if the target is not this plan's any more.
func (b *bucket) mark(ctx context.Context) error {
	mark := source.Under(b.target.Path, success)
	if err := b.store.Put(ctx, mark, nil, true); err != nil {
		return err
	}
	now, err := b.claimant(ctx)
	switch {
	case err != nil:
		return err
	case now == nil: // another commit of the plan has ended, and removed the claim; or an abort
		if done, err := b.plan.committedAt(ctx, b, b.target); err != nil || done {
			return errors.Join(err, b.alone(ctx))
		}
	case now.Plan != b.plan.ID: // somebody has removed this plan's
		return b.foreign(now)
	case now.Work == committing:
		return nil
	}
	return errors.Join(aborted(b.target), b.store.Remove(ctx, mark))
}

// remove is tidy for a target that was committed, and otherwise aborts the plan.
func (b *bucket) remove(ctx context.Context, committed bool) error {
	if committed {
		return b.tidy(ctx)
	}
	if _, err := b.claim(ctx, aborting); err != nil {
		now, lookErr := b.claimant(ctx)
		if lookErr != nil || now == nil || now.Plan == b.plan.ID {
			return err
		}
		ours, lookErr := b.unfinished(ctx)
		if lookErr != nil || len(ours) > 0 {
			return err
		}
		return b.abandon(ctx, nil) // another plan is at work there, and nothing of this one is visible
	}
	if err := b.abandon(ctx, b.mine); err != nil {
		return err
	}
	return b.release(ctx, aborting)
}

func (b *bucket) tidy(ctx context.Context) error {
	names, err := b.list(ctx, told)
	if len(names) > 0 {
		err = errors.Join(err, b.sweep(ctx), b.removeAll(ctx, b.taskFolder(), names))
	}
	return errors.Join(err, b.release(ctx, committing))
}

// abandon ends the uploads of the plan, removes what is visible of it, and the tasks; before each
// of these it asks mine, if it is not nil. Uploads end first: those that tasks tell of are known
// until then, and no commit makes one visible after that.
func (b *bucket) abandon(ctx context.Context, mine func(context.Context) error) error {
	names, err := b.list(ctx, told)
	if err != nil {
		return err
	}
	removeVisible := func() error {
		if mine == nil || len(names) == 0 { // without tasks it was committed, or never begun
			return nil
		}
		ours, err := b.unfinished(ctx)
		if err != nil {
			return err
		}
		return b.removeAll(ctx, b.target.Path, ours)
	}
	for _, step := range []func() error{
		func() error { return b.endUploads(ctx, len(names) > 0) },
		removeVisible,
		func() error { return b.removeAll(ctx, b.taskFolder(), names) },
	} {
		if mine != nil {
			if err := mine(ctx); err != nil {
				return err
			}
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// endUploads ends the uploads of the plan: those that tasks tell of, if there are any, and those of
// attempts that told of nothing.
func (b *bucket) endUploads(ctx context.Context, any bool) error {
	if any {
		err := each(ctx, requests, len(b.target.Parts), func(ctx context.Context, i int) error {
			task, err := b.plan.toldAt(ctx, b, b.target, &b.target.Parts[i])
			switch {
			case errors.Is(err, errUnreadable): // what it told cannot be read: sweep ends its upload, or a rule of the bucket
				return nil
			case err != nil || task == nil || task.Upload == nil:
				return err
			}
			return b.store.Abort(ctx, source.Under(b.target.Path, task.Name), *task.Upload)
		})
		if err != nil {
			return err
		}
	}
	return b.sweep(ctx)
}

// sweep ends the uploads of attempts that told of nothing, as far as the server lists them.
func (b *bucket) sweep(ctx context.Context) error {
	ours := b.plan.files(b.target)
	below := b.target.Path + "/"
	return b.store.Sweep(ctx, below+partPrefix, func(name string) bool { return ours[name[len(below):]] })
}

// unfinished are the parts that a commit which did not come to its end has made visible; none if it
// did.
func (b *bucket) unfinished(ctx context.Context) (ours []string, err error) {
	found, err := b.names(ctx, b.target.Path)
	expected := b.plan.files(b.target)
	for _, name := range found {
		if name == success {
			return nil, err
		}
		if expected[name] {
			ours = append(ours, name)
		}
	}
	return ours, err
}

// removeAll removes the objects with these names below a prefix.
func (b *bucket) removeAll(ctx context.Context, prefix string, names []string) error {
	return each(ctx, requests, len(names), func(ctx context.Context, i int) error {
		return b.store.Remove(ctx, source.Under(prefix, names[i]))
	})
}

// A claim says who is at work on a target.
type claim struct {
	Plan string `json:"plan_id"`
	Work string `json:"work"`
	Run  string `json:"run"` // of an abort: each has its own
}

// What a claim is for.
const (
	committing = "commit"
	aborting   = "abort"
)

// ours reports whether the plan is at that work.
func (c *claim) ours(b *bucket, work string) bool {
	return c != nil && c.Plan == b.plan.ID && c.Work == work
}

// claimed is the object that has the claim.
func (b *bucket) claimed() string { return beside(b.target, ".idxport-plan") }

// claimant is the claim; nil: there is none. One that cannot be read is nobody's.
func (b *bucket) claimant(ctx context.Context) (*claim, error) {
	text, err := b.store.Get(ctx, b.claimed(), mostTask)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &claim{}
	_ = json.Unmarshal(text, c) // else it is empty
	return c, nil
}

// looks is how often a claim is asked for that has just gone.
const looks = 5

// claim claims the target for the plan. It is fresh if nobody had claimed it. A commit goes on with
// what another has begun; an abort takes over what others of this plan are at.
func (b *bucket) claim(ctx context.Context, work string) (fresh bool, err error) {
	b.run = random()
	text, err := json.Marshal(claim{b.plan.ID, work, b.run})
	if err != nil {
		return false, err
	}
	var now *claim
	for n := 0; now == nil; n++ {
		err := b.store.Put(ctx, b.claimed(), text, false)
		if !errors.Is(err, fault.Exists) || n == looks {
			return err == nil, err
		}
		if now, err = b.claimant(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case now.Plan != b.plan.ID:
		return false, b.foreign(now)
	case work == aborting:
		return false, b.store.Put(ctx, b.claimed(), text, true)
	case now.Work == aborting:
		return false, aborted(b.target)
	}
	return false, nil
}

// foreign is the error for a target that another plan has claimed.
func (b *bucket) foreign(c *claim) error {
	advice := fmt.Sprintf("let it end, or end it: idxport abort with that plan; %s tells of it", shell.Path(b.claimed()))
	return fail(fault.Exists, advice, "%s: another plan is at work there: plan_id %q, %s", b.target.Path, c.Plan, c.Work)
}

// mine is nil if the claim is that of this abort.
func (b *bucket) mine(ctx context.Context) error {
	now, err := b.claimant(ctx)
	if err == nil && (now == nil || now.Plan != b.plan.ID || now.Run != b.run) {
		err = fail(fault.Exists, "let it end", "%s: another abort is at work there, or has ended", b.target.Path)
	}
	return err
}

// release removes the claim, if it is this plan's and for that work.
func (b *bucket) release(ctx context.Context, work string) error {
	now, err := b.claimant(ctx)
	if err == nil && now.ours(b, work) {
		err = b.store.Remove(ctx, b.claimed())
	}
	return err
}
