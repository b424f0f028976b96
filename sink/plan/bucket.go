package plan

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/source"
)

// A bucket is the place of a target in object storage. Parts are uploads that are whole and unseen, under the keys that they shall have; commit makes them seen,
// one after another, and _SUCCESS last.
type bucket struct {
	store   *object.Store
	target  string // URL, without a slash at its end
	staging string // URL
	names   map[string]bool
}

// parallel is how many requests are on their way at once.
func (b *bucket) parallel() int { return 16 }

func (b *bucket) attempt(file string) (string, error) { return source.Under(b.target, file), nil }

func (b *bucket) put(string, string) error { return nil }

func (b *bucket) tell(ctx context.Context, _, file string, text []byte) error {
	return b.store.Put(ctx, b.task(file), text, false)
}

// task is the URL of a task.
func (b *bucket) task(file string) string { return source.Under(source.Under(b.staging, tasks), file) }

func (b *bucket) discard(ctx context.Context, attempt string, upload *object.Receipt) error {
	return b.store.Drop(ctx, attempt, *upload)
}

// mostTask is how long a task may be: it has two lines for each of the 10,000 parts that an upload may have.
const mostTask = 4 << 20

func (b *bucket) read(ctx context.Context, file string) ([]byte, error) {
	return b.store.Get(ctx, b.task(file), mostTask)
}

func (b *bucket) tasks(ctx context.Context) ([]string, error) {
	return b.list(ctx, source.Under(b.staging, tasks))
}

func (b *bucket) visible(ctx context.Context) ([]string, error) { return b.list(ctx, b.target) }

// list are the names right below a prefix.
func (b *bucket) list(ctx context.Context, prefix string) (names []string, err error) {
	entries, err := b.store.ReadDir(ctx, prefix+"/")
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (b *bucket) check(ctx context.Context, task *Task) error {
	if task.Upload == nil || task.Upload.Bytes != task.Bytes {
		return fail(ErrIncomplete, "idxport abort, and begin again", "part %d: its task does not tell of its upload", task.Part)
	}
	err := b.store.Holds(ctx, source.Under(b.target, task.Name), *task.Upload)
	if errors.Is(err, object.ErrNoUpload) || errors.Is(err, object.ErrReceipt) {
		return notThere(task)
	}
	return err
}

func (b *bucket) alone(ctx context.Context, expected map[string]bool) error {
	found, err := b.visible(ctx)
	if err != nil {
		return err
	}
	for _, name := range found {
		if !expected[name] {
			return taken(b.target + "/")
		}
	}
	return nil
}

func (b *bucket) appear(ctx context.Context, tasks []Task) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.parallel())
	for i := range tasks {
		group.Go(func() error {
			err := b.store.Publish(ctx, source.Under(b.target, tasks[i].Name), *tasks[i].Upload)
			switch {
			case errors.Is(err, object.ErrExists):
				return taken(b.target + "/")
			case errors.Is(err, object.ErrNoUpload): // a moment ago it was there
				return notThere(&tasks[i])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return b.store.Put(context.WithoutCancel(ctx), source.Under(b.target, success), nil, true)
}

// clear ends uploads before their tasks go, so that what is left of a run that is killed meanwhile is still known. They are asked for by the keys of the parts: others
// may have uploads beside them, and some servers list those of a whole key alone.
func (b *bucket) clear(ctx context.Context) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(b.parallel())
	for name := range b.names {
		group.Go(func() error { return b.store.Sweep(inner, source.Under(b.target, name), nil) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.removeUnfinished(ctx); err != nil {
		return err
	}
	names, err := b.tasks(ctx)
	if err != nil {
		return err
	}
	return b.remove(ctx, source.Under(b.staging, tasks), names)
}

// removeUnfinished removes the parts that a commit which did not come to its end has made seen.
func (b *bucket) removeUnfinished(ctx context.Context) error {
	found, err := b.visible(ctx)
	if err != nil {
		return err
	}
	var ours []string
	for _, name := range found {
		if name == success {
			return nil
		}
		if b.names[name] {
			ours = append(ours, name)
		}
	}
	return b.remove(ctx, b.target, ours)
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
