package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/source"
)

// A bucket is the storage of a target that is a URL. Parts are complete uploads under their final
// keys; commit publishes them, one after another, and _SUCCESS last.
type bucket struct {
	store  *object.Store
	plan   *Plan
	target *Target
	run    string // lease.Run of the last lease that acquire took
}

const (
	maxRequests = 16      // at the same time
	maxResult   = 4 << 20 // bytes: a result has up to 10,000 parts of an upload
)

// results returns the prefix of results, without a slash at its end.
func (b *bucket) results() string { return source.Under(b.plan.staging(b.target), resultsFolder) }

func (b *bucket) put(ctx context.Context, _, _, result string, text []byte) error {
	return b.store.Put(ctx, b.resultPath(result), text, false)
}

func (b *bucket) read(ctx context.Context, result string) ([]byte, error) {
	return b.store.Get(ctx, b.resultPath(result), maxResult)
}

func (b *bucket) resultPath(result string) string { return source.Under(b.results(), result) }

func (b *bucket) list(ctx context.Context, kind listKind) (names []string, err error) {
	if kind == visible {
		names, err = b.names(ctx, b.target.Path)
		if err != nil || !slices.Contains(names, success) {
			return names, err
		}
		current, err := b.lease(ctx)
		if current.held(b.plan, aborting) {
			names = slices.DeleteFunc(names, func(name string) bool { return name == success })
		}
		return names, err
	}
	names, err = b.names(ctx, b.results())
	if err != nil || kind == delivered || len(names) > 0 {
		return names, err
	}
	current, err := b.lease(ctx)
	if current != nil && current.Plan == b.plan.ID {
		names = append(names, b.leaseURL())
	}
	return names, err
}

// names returns the names right below a prefix.
func (b *bucket) names(ctx context.Context, prefix string) (names []string, err error) {
	entries, err := b.store.ReadDir(ctx, prefix+"/")
	if errors.Is(err, fault.NotFound) { // for a prefix, this means that there is no bucket
		return nil, fault.New(fault.Refused, "the bucket does not exist").In(b.target.Path).WithHint("make the bucket, or check its name")
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (b *bucket) check(ctx context.Context, results []Result) error {
	err := forEach(ctx, maxRequests, len(results), func(ctx context.Context, i int) error {
		r := &results[i]
		if r.Upload == nil || r.Upload.Bytes != r.Bytes {
			part := &Part{Index: r.Part}
			return b.plan.foreign(part, b.resultPath(b.plan.resultName(b.target, part)))
		}
		return b.explain(r, b.store.Check(ctx, source.Under(b.target.Path, r.Name), *r.Upload))
	})
	if err != nil {
		return err
	}
	return b.checkAlone(ctx)
}

// explain returns the error to be reported if checking or publishing the upload of r has failed.
func (b *bucket) explain(r *Result, err error) error {
	switch {
	case errors.Is(err, fault.Exists):
		return occupied(b.target.Path + "/" + r.Name)
	case errors.Is(err, object.ErrNoUpload), errors.Is(err, fault.Malformed):
		return b.plan.lost(r, b.resultPath(b.plan.resultName(b.target, &Part{Index: r.Part})), "upload")
	}
	return err
}

// checkAlone returns an error if there is anything but the plan's files at the path of the target.
func (b *bucket) checkAlone(ctx context.Context) error {
	info, err := b.store.Stat(ctx, b.target.Path)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return occupied(b.target.Path)
	}
	found, err := b.names(ctx, b.target.Path)
	expected := b.plan.files(b.target)
	if slices.ContainsFunc(found, func(name string) bool { return !expected[name] }) {
		return occupied(b.target.Path + "/")
	}
	return err
}

// publish takes the lease, so that no parts of other plans become visible beside these, and
// publishes the parts. An abort writes the lease and then looks for _SUCCESS; a commit writes
// _SUCCESS and then reads the lease: so at least one of them notices the other, and the commit
// yields.
func (b *bucket) publish(ctx context.Context, results []Result) error {
	fresh, err := b.acquire(ctx, committing)
	if err != nil {
		return err
	}
	if err := b.checkAlone(ctx); err != nil {
		if fresh {
			err = errors.Join(err, b.release(ctx, committing))
		}
		return err
	}
	err = forEach(ctx, maxRequests, len(results), func(ctx context.Context, i int) error {
		r := &results[i]
		return b.explain(r, b.store.Publish(ctx, source.Under(b.target.Path, r.Name), *r.Upload))
	})
	if err != nil {
		return err
	}
	return b.mark(context.WithoutCancel(ctx))
}

// mark puts _SUCCESS and then reads the lease. If an abort of the plan has it, or nobody has it and
// parts are missing because an abort has ended, mark removes _SUCCESS again. If another plan has
// the lease, mark fails and leaves _SUCCESS.
func (b *bucket) mark(ctx context.Context) error {
	mark := source.Under(b.target.Path, success)
	if err := b.store.Put(ctx, mark, nil, true); err != nil {
		return err
	}
	current, err := b.lease(ctx)
	switch {
	case err != nil:
		return err
	case current == nil: // another commit of the plan, or an abort, has ended and released it
		if done, err := b.plan.committedIn(ctx, b, b.target); err != nil || done {
			return errors.Join(err, b.checkAlone(ctx))
		}
	case current.Plan != b.plan.ID: // somebody has removed the lease of this plan
		return b.leased(current)
	case current.Work == committing:
		return nil
	}
	return errors.Join(b.plan.aborted(b.target), b.store.Remove(ctx, mark))
}

func (b *bucket) remove(ctx context.Context, committed bool) error {
	if committed {
		names, err := b.list(ctx, delivered)
		if len(names) > 0 {
			err = errors.Join(err, b.sweep(ctx), b.removeAll(ctx, b.results(), names))
		}
		return errors.Join(err, b.release(ctx, committing))
	}
	if _, err := b.acquire(ctx, aborting); err != nil {
		current, lookErr := b.lease(ctx)
		if lookErr != nil || current == nil || current.Plan == b.plan.ID {
			return err
		}
		ours, lookErr := b.unfinished(ctx)
		if lookErr != nil || len(ours) > 0 {
			return err
		}
		return b.abort(ctx, false) // another plan has the lease, and nothing of this one is visible
	}
	if err := b.abort(ctx, true); err != nil {
		return err
	}
	return b.release(ctx, aborting)
}

// abort ends the uploads of the plan and removes its results. If leased is set, it also removes
// what is visible of the plan, and checks before each step that this run still has the lease.
// Uploads end first: results are needed to find them, and no commit can publish them after that.
func (b *bucket) abort(ctx context.Context, leased bool) error {
	names, err := b.list(ctx, delivered)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return b.endUploads(ctx, len(names) > 0) },
		func() error {
			if !leased || len(names) == 0 { // without results it was committed, or never begun
				return nil
			}
			ours, err := b.unfinished(ctx)
			if err != nil {
				return err
			}
			return b.removeAll(ctx, b.target.Path, ours)
		},
		func() error { return b.removeAll(ctx, b.results(), names) },
	} {
		if leased {
			current, err := b.lease(ctx)
			if err != nil {
				return err
			}
			if current == nil || current.Plan != b.plan.ID || current.Run != b.run {
				return fail(fault.Exists, "run it again: "+b.plan.Command("abort"), "%s: another abort of this plan took over", b.target.Path)
			}
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// endUploads ends the uploads of the plan: those in results, if there are any, and those of
// attempts without results.
func (b *bucket) endUploads(ctx context.Context, results bool) error {
	if results {
		err := forEach(ctx, maxRequests, len(b.target.Parts), func(ctx context.Context, i int) error {
			r, err := b.plan.resultIn(ctx, b, b.target, &b.target.Parts[i])
			switch {
			case errors.Is(err, errUnreadable): // sweep, or a lifecycle rule of the bucket, ends its upload
				return nil
			case err != nil || r == nil || r.Upload == nil:
				return err
			}
			return b.store.Abort(ctx, source.Under(b.target.Path, r.Name), *r.Upload)
		})
		if err != nil {
			return err
		}
	}
	return b.sweep(ctx)
}

// sweep ends the uploads of attempts without results, as far as the server lists them.
func (b *bucket) sweep(ctx context.Context) error {
	ours := b.plan.files(b.target)
	below := b.target.Path + "/"
	return b.store.Sweep(ctx, below+partPrefix, func(name string) bool { return ours[name[len(below):]] })
}

// unfinished returns the parts that a commit has made visible, none if the commit is complete.
func (b *bucket) unfinished(ctx context.Context) (ours []string, err error) {
	found, err := b.names(ctx, b.target.Path)
	if slices.Contains(found, success) {
		return nil, err
	}
	expected := b.plan.files(b.target)
	return slices.DeleteFunc(found, func(name string) bool { return !expected[name] }), err
}

// removeAll removes the objects with these names below a prefix.
func (b *bucket) removeAll(ctx context.Context, prefix string, names []string) error {
	return forEach(ctx, maxRequests, len(names), func(ctx context.Context, i int) error {
		return b.store.Remove(ctx, source.Under(prefix, names[i]))
	})
}

// A lease is an object that records which plan is working on a target.
type lease struct {
	Plan string `json:"plan_id"`
	Work string `json:"work"` // committing or aborting
	Run  string `json:"run"`  // distinguishes several aborts of one plan
}

const (
	committing = "commit"
	aborting   = "abort"
)

// held reports whether the plan has the lease for this work. l may be nil.
func (l *lease) held(p *Plan, work string) bool { return l != nil && l.Plan == p.ID && l.Work == work }

// leaseURL returns the URL of the lease.
func (b *bucket) leaseURL() string { return beside(b.target, ".idxport-plan") }

// lease returns the current lease, nil if there is none. An unreadable one belongs to no plan.
func (b *bucket) lease(ctx context.Context) (*lease, error) {
	text, err := b.store.Get(ctx, b.leaseURL(), maxResult)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &lease{}
	_ = json.Unmarshal(text, l) // after a syntax error l is empty
	return l, nil
}

// maxLeaseTries limits how often acquire tries again when the lease was released meanwhile.
const maxLeaseTries = 5

// acquire takes the lease, and reports whether nobody had it. A commit shares the lease with other
// commits of the plan. An abort takes the lease from any other command of the plan.
func (b *bucket) acquire(ctx context.Context, work string) (fresh bool, err error) {
	b.run = randomName()
	text, err := json.Marshal(lease{b.plan.ID, work, b.run})
	if err != nil {
		return false, err
	}
	var current *lease
	for n := 0; current == nil; n++ {
		err := b.store.Put(ctx, b.leaseURL(), text, false)
		if !errors.Is(err, fault.Exists) || n == maxLeaseTries {
			return err == nil, err
		}
		if current, err = b.lease(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case current.Plan != b.plan.ID:
		return false, b.leased(current)
	case work == aborting:
		return false, b.store.Put(ctx, b.leaseURL(), text, true)
	case current.Work == aborting:
		return false, fail(fault.Refused, b.plan.adviseAbort(), "%s is being aborted, or an abort of it was interrupted", b.target.Path).Because(errAborted)
	}
	return false, nil
}

// release removes the lease if the plan has it for this work.
func (b *bucket) release(ctx context.Context, work string) error {
	current, err := b.lease(ctx)
	if err == nil && current.held(b.plan, work) {
		err = b.store.Remove(ctx, b.leaseURL())
	}
	return err
}

// leased returns the error for a target whose lease another plan has.
func (b *bucket) leased(l *lease) error {
	work := "commit or abort" // of an unreadable lease
	if l.Work == committing || l.Work == aborting {
		work = l.Work
	}
	hint := fmt.Sprintf("wait until that command ends; if it was interrupted, run idxport abort with the plan that has this plan_id (it is recorded in %s)", b.leaseURL())
	return fail(fault.Exists, hint, "%s is in use by the %s of another plan (plan_id %q)", b.target.Path, work, l.Plan)
}
