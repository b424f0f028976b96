package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// A bucket is the place of a target in object storage. Parts are uploads that are whole and unseen, under the keys that they shall have; commit makes them seen,
// one after another, and _SUCCESS last.
type bucket struct {
	store  *object.Store
	plan   *Plan
	target *Target
}

// parallel is how many requests are on their way at once.
func (b *bucket) parallel() int { return 16 }

func (b *bucket) attempt(file string) (string, error) { return source.Under(b.target.Path, file), nil }

func (b *bucket) put(string, string) error { return nil }

func (b *bucket) tell(ctx context.Context, _, file string, text []byte) error {
	return b.store.Put(ctx, source.Under(b.taskFolder(), file), text, false)
}

// taskFolder is the prefix that tasks are below, without a slash at its end.
func (b *bucket) taskFolder() string { return source.Under(b.plan.staging(b.target), tasksFolder) }

func (b *bucket) discard(ctx context.Context, attempt string, upload *object.Receipt) error {
	return b.store.Drop(ctx, attempt, *upload)
}

// mostTask is how long a task may be, in bytes: it tells of up to 10,000 parts of an upload.
const mostTask = 4 << 20

func (b *bucket) read(ctx context.Context, file string) ([]byte, error) {
	return b.store.Get(ctx, source.Under(b.taskFolder(), file), mostTask)
}

func (b *bucket) tasks(ctx context.Context) ([]string, error) { return b.list(ctx, b.taskFolder()) }

func (b *bucket) visible(ctx context.Context) ([]string, error) { return b.list(ctx, b.target.Path) }

// list are the names right below a prefix.
func (b *bucket) list(ctx context.Context, prefix string) (names []string, err error) {
	entries, err := b.store.ReadDir(ctx, prefix+"/")
	if errors.Is(err, object.ErrNotFound) { // a prefix always exists
		return nil, fail(object.ErrNoBucket, "make the bucket, or check its name", "%s: the bucket does not exist", b.target.Path)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (b *bucket) check(ctx context.Context, task *Task) error {
	if task.Upload == nil || task.Upload.Bytes != task.Bytes {
		return fail(ErrIncomplete, "idxport abort, and begin again", "part %d: its task does not tell of its upload", task.Part)
	}
	return b.seen(task, b.store.Holds(ctx, source.Under(b.target.Path, task.Name), *task.Upload))
}

// seen is what an error means of looking for an upload or making it seen.
func (b *bucket) seen(task *Task, err error) error {
	switch {
	case errors.Is(err, object.ErrExists):
		return taken(b.target.Path + "/" + task.Name)
	case errors.Is(err, object.ErrNoUpload), errors.Is(err, object.ErrReceipt):
		return notThere(task, source.Under(b.taskFolder(), b.plan.taskName(b.target, &Part{Index: task.Part})))
	}
	return err
}

func (b *bucket) alone(ctx context.Context, expected map[string]bool) error {
	info, err := b.store.Stat(ctx, b.target.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return taken(b.target.Path)
	}
	found, err := b.visible(ctx)
	if err != nil {
		return err
	}
	for _, name := range found {
		if !expected[name] {
			return taken(b.target.Path + "/")
		}
	}
	return nil
}

// appear claims the target, so that no other plan's parts are seen beside these, and makes the parts seen. Who aborts writes into the claim and then looks for _SUCCESS; here _SUCCESS is
// written and then the claim is looked at: if both are at it, at least one sees the other, and gives way.
func (b *bucket) appear(ctx context.Context, tasks []Task) error {
	fresh, err := b.claim(ctx, committing)
	if err != nil {
		return err
	}
	if err := b.alone(ctx, b.plan.files(b.target)); err != nil {
		if fresh {
			err = errors.Join(err, b.store.Remove(ctx, b.claimed()))
		}
		return err
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(b.parallel())
	for i := range tasks {
		group.Go(func() error {
			return b.seen(&tasks[i], b.store.Publish(inner, source.Under(b.target.Path, tasks[i].Name), *tasks[i].Upload))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	mark := source.Under(b.target.Path, success)
	if err := b.store.Put(ctx, mark, nil, true); err != nil {
		return err
	}
	if now, err := b.claimant(ctx); err != nil || now == b.claimText(committing) {
		return err
	}
	if done, err := b.plan.Committed(ctx, b.target); done || err != nil { // another commit of the plan has ended, and removed the claim
		return err
	}
	return errors.Join(fail(ErrIncomplete, "commit again, if it is to be there; else idxport abort again", "%s was aborted meanwhile", b.target.Path), b.store.Remove(ctx, mark))
}

// What a claim is for.
const (
	committing = "commit"
	aborting   = "abort"
)

// claimed is the object that says which plan is at work on the target.
func (b *bucket) claimed() string { return beside(b.target, ".idxport-plan") }

func (b *bucket) claimText(work string) string {
	text, _ := json.Marshal(map[string]string{"plan_id": b.plan.ID, "work": work}) // strings
	return string(text) + "\n"
}

// claimant is the text of the claim; empty: there is none.
func (b *bucket) claimant(ctx context.Context) (string, error) {
	text, err := b.store.Get(ctx, b.claimed(), mostTask)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

// claim claims the target for the plan. It is fresh if nobody had claimed it.
func (b *bucket) claim(ctx context.Context, work string) (fresh bool, err error) {
	now := ""
	for now == "" { // again, if the one that was there has just gone
		err = b.store.Put(ctx, b.claimed(), []byte(b.claimText(work)), false)
		if !errors.Is(err, object.ErrExists) {
			return err == nil, err
		}
		if now, err = b.claimant(ctx); err != nil {
			return false, err
		}
	}
	switch now {
	case b.claimText(work): // another run of the same is at it, or was killed
		return false, nil
	case b.claimText(committing): // a commit that was killed, or is at work: it will see this
		return false, b.store.Put(ctx, b.claimed(), []byte(b.claimText(work)), true)
	case b.claimText(aborting):
		return false, fail(publish.ErrExists, "let it end, or end it: idxport abort", "%s is being aborted", b.target.Path)
	}
	return false, fail(publish.ErrExists, fmt.Sprintf("let it end, or end it with its plan; if nobody is at work, remove %s", b.claimed()), "%s: another plan is being committed there", b.target.Path)
}

// release removes the claim of this plan.
func (b *bucket) release(ctx context.Context) error {
	now, err := b.claimant(ctx)
	if err == nil && (now == b.claimText(committing) || now == b.claimText(aborting)) {
		err = b.store.Remove(ctx, b.claimed())
	}
	return err
}

func (b *bucket) tidy(ctx context.Context) error {
	names, err := b.tasks(ctx)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		err = errors.Join(b.sweep(ctx), b.remove(ctx, b.taskFolder(), names))
	}
	if err == nil {
		err = b.release(ctx)
	}
	return err
}

func (b *bucket) abort(ctx context.Context) error {
	if _, err := b.claim(ctx, aborting); err != nil {
		if now, lookErr := b.claimant(ctx); lookErr != nil || now == b.claimText(committing) || now == b.claimText(aborting) {
			return err
		}
		return b.abandon(ctx, nil) // another plan is at work there: what is seen is its own
	}
	if err := b.abandon(ctx, b.removeUnfinished); err != nil {
		return err
	}
	return b.release(ctx)
}

// abandon ends the uploads of the plan, calls more, if it is not nil, and removes the tasks. Uploads end first: those that tasks tell of are known until then, and no commit makes one seen after that.
func (b *bucket) abandon(ctx context.Context, more func(context.Context) error) error {
	names, err := b.tasks(ctx)
	if err != nil {
		return err
	}
	if err := b.endUploads(ctx, len(names) > 0); err != nil {
		return err
	}
	if more != nil && len(names) > 0 { // without tasks it was committed, or never begun
		if err := more(ctx); err != nil {
			return err
		}
	}
	return b.remove(ctx, b.taskFolder(), names)
}

// endUploads ends the uploads of the plan: those that tasks tell of, if there are any, and those of attempts that told of nothing.
func (b *bucket) endUploads(ctx context.Context, told bool) error {
	if !told {
		return b.sweep(ctx)
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(b.parallel())
	for i := range b.target.Parts {
		part := &b.target.Parts[i]
		group.Go(func() error {
			task, err := b.plan.Told(inner, b.target, part)
			switch {
			case errors.Is(err, ErrIncomplete): // what it told cannot be read: sweep ends its upload, or a rule of the bucket
				return nil
			case err != nil || task == nil || task.Upload == nil:
				return err
			}
			return b.store.Drop(inner, source.Under(b.target.Path, task.Name), *task.Upload)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return b.sweep(ctx)
}

// sweep ends the uploads of attempts that told of nothing, as far as the server lists them.
func (b *bucket) sweep(ctx context.Context) error {
	ours := b.plan.files(b.target)
	below := b.target.Path + "/"
	return b.store.Sweep(ctx, below+partPrefix, func(name string) bool { return ours[name[len(below):]] })
}

// removeUnfinished removes the parts that a commit which did not come to its end has made seen. The target is claimed.
func (b *bucket) removeUnfinished(ctx context.Context) error {
	found, err := b.visible(ctx)
	if err != nil {
		return err
	}
	var ours []string
	expected := b.plan.files(b.target)
	for _, name := range found {
		if name == success {
			return nil
		}
		if expected[name] {
			ours = append(ours, name)
		}
	}
	return b.remove(ctx, b.target.Path, ours)
}

// remove removes the objects with these names below a prefix.
func (b *bucket) remove(ctx context.Context, prefix string, names []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.parallel())
	for _, name := range names {
		group.Go(func() error { return b.store.Remove(ctx, source.Under(prefix, name)) })
	}
	return group.Wait()
}
