package plan

import (
	"context"
	"errors"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/source"
)

// A bucket is the place of a target in object storage. Parts are uploads that are whole and unseen, under the keys that they shall have; commit makes them seen,
// one after another, and _SUCCESS last.
type bucket struct {
	store  *object.Store
	plan   *Plan
	target *Target
	run    string // of the last claim
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

func (b *bucket) discard(ctx context.Context, attempt string, upload *object.PendingUpload) error {
	return b.store.Abort(ctx, attempt, *upload)
}

// mostTask is how long a task may be, in bytes: it tells of up to 10,000 parts of an upload.
const mostTask = 4 << 20

func (b *bucket) read(ctx context.Context, file string) ([]byte, error) {
	return b.store.Get(ctx, source.Under(b.taskFolder(), file), mostTask)
}

func (b *bucket) tasks(ctx context.Context) ([]string, error) { return b.list(ctx, b.taskFolder()) }

func (b *bucket) begun(ctx context.Context) (bool, error) {
	told, err := b.tasks(ctx)
	if err != nil || len(told) > 0 {
		return len(told) > 0, err
	}
	now, err := b.claimant(ctx)
	return now != nil && now.Plan == b.plan.ID, err
}

func (b *bucket) visible(ctx context.Context) ([]string, error) { return b.list(ctx, b.target.Path) }

// list are the names right below a prefix.
func (b *bucket) list(ctx context.Context, prefix string) (names []string, err error) {
	entries, err := b.store.ReadDir(ctx, prefix+"/")
	if errors.Is(err, fault.NotFound) { // a prefix always exists
		return nil, fault.New(fault.Refused, "the bucket does not exist").In(b.target.Path).WithHint("make the bucket, or check its name")
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (b *bucket) check(ctx context.Context, task *Task) error {
	if task.Upload == nil || task.Upload.Bytes != task.Bytes {
		return fail(fault.Refused, "idxport abort, and begin again", "part %d: its task does not tell of its upload", task.Part)
	}
	return b.seen(task, b.store.Check(ctx, source.Under(b.target.Path, task.Name), *task.Upload))
}

// seen is what an error means of looking for an upload or making it seen.
func (b *bucket) seen(task *Task, err error) error {
	switch {
	case errors.Is(err, fault.Exists):
		return taken(b.target.Path + "/" + task.Name)
	case errors.Is(err, object.ErrNoUpload), errors.Is(err, fault.Malformed):
		return notThere(task, source.Under(b.taskFolder(), b.plan.taskName(b.target, &Part{Index: task.Part})))
	}
	return err
}

func (b *bucket) alone(ctx context.Context, expected map[string]bool) error {
	info, err := b.store.Stat(ctx, b.target.Path)
	if errors.Is(err, fault.NotFound) {
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
// written and then the claim is looked at: if both are at it, at least one sees the other, and commit gives way.
func (b *bucket) appear(ctx context.Context, tasks []Task) error {
	fresh, err := b.claim(ctx, committing)
	if err != nil {
		return err
	}
	if err := b.alone(ctx, b.plan.files(b.target)); err != nil {
		if fresh {
			err = errors.Join(err, b.release(ctx, committing))
		}
		return err
	}
	err = each(ctx, b.parallel(), len(tasks), func(ctx context.Context, i int) error {
		return b.seen(&tasks[i], b.store.Publish(ctx, source.Under(b.target.Path, tasks[i].Name), *tasks[i].Upload))
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
		if done, err := b.plan.Committed(ctx, b.target); err != nil || done {
			return errors.Join(err, b.alone(ctx, b.plan.files(b.target)))
		}
	case now.Plan != b.plan.ID: // somebody has removed this plan's
		return b.foreign(now)
	case now.Work == committing:
		return nil
	}
	return errors.Join(aborted(b.target), b.store.Remove(ctx, mark))
}

func (b *bucket) tidy(ctx context.Context) error {
	names, err := b.tasks(ctx)
	if len(names) > 0 {
		err = errors.Join(err, b.sweep(ctx), b.remove(ctx, b.taskFolder(), names))
	}
	return errors.Join(err, b.release(ctx, committing))
}

func (b *bucket) abort(ctx context.Context) error {
	if _, err := b.claim(ctx, aborting); err != nil {
		now, lookErr := b.claimant(ctx)
		if lookErr != nil || now == nil || now.Plan == b.plan.ID {
			return err
		}
		ours, lookErr := b.unfinished(ctx)
		if lookErr != nil || len(ours) > 0 {
			return err
		}
		return b.abandon(ctx, nil) // another plan is at work there, and nothing of this one is seen
	}
	if err := b.abandon(ctx, b.mine); err != nil {
		return err
	}
	return b.release(ctx, aborting)
}

// abandon ends the uploads of the plan, removes what is seen of it, and the tasks; before each of these it asks mine, if it is not nil. Uploads end first: those that tasks tell of are
// known until then, and no commit makes one seen after that.
func (b *bucket) abandon(ctx context.Context, mine func(context.Context) error) error {
	names, err := b.tasks(ctx)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return b.endUploads(ctx, len(names) > 0) },
		func() error {
			if mine == nil || len(names) == 0 { // without tasks it was committed, or never begun
				return nil
			}
			ours, err := b.unfinished(ctx)
			if err != nil {
				return err
			}
			return b.remove(ctx, b.target.Path, ours)
		},
		func() error { return b.remove(ctx, b.taskFolder(), names) },
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

// endUploads ends the uploads of the plan: those that tasks tell of, if there are any, and those of attempts that told of nothing.
func (b *bucket) endUploads(ctx context.Context, told bool) error {
	if !told {
		return b.sweep(ctx)
	}
	err := each(ctx, b.parallel(), len(b.target.Parts), func(ctx context.Context, i int) error {
		task, err := b.plan.Told(ctx, b.target, &b.target.Parts[i])
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
	return b.sweep(ctx)
}

// sweep ends the uploads of attempts that told of nothing, as far as the server lists them.
func (b *bucket) sweep(ctx context.Context) error {
	ours := b.plan.files(b.target)
	below := b.target.Path + "/"
	return b.store.Sweep(ctx, below+partPrefix, func(name string) bool { return ours[name[len(below):]] })
}

// unfinished are the parts that a commit which did not come to its end has made seen; none if it did.
func (b *bucket) unfinished(ctx context.Context) (ours []string, err error) {
	found, err := b.visible(ctx)
	if err != nil {
		return nil, err
	}
	expected := b.plan.files(b.target)
	for _, name := range found {
		if name == success {
			return nil, nil
		}
		if expected[name] {
			ours = append(ours, name)
		}
	}
	return ours, nil
}

// remove removes the objects with these names below a prefix.
func (b *bucket) remove(ctx context.Context, prefix string, names []string) error {
	return each(ctx, b.parallel(), len(names), func(ctx context.Context, i int) error {
		return b.store.Remove(ctx, source.Under(prefix, names[i]))
	})
}
