package plan

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Commit makes the targets appear, once all their parts are there with the sizes and hashes that their tasks told: a folder in one step, objects one after another.
// What was committed before stays as it is: to commit twice is to commit once. It returns the tasks in the order of the parts, and whether there was nothing to do.
func (p *Plan) Commit(ctx context.Context) (told []Task, unchanged bool, err error) {
	missing, err := p.Missing(ctx)
	if err != nil {
		return nil, false, err
	}
	if len(missing) > 0 {
		return nil, false, fail(ErrIncomplete, "run them: idxport convert --plan … --part N; idxport status lists them", "%d of %d parts are missing: %s",
			len(missing), p.Parts(), Spec(missing))
	}
	unchanged = true
	for i := range p.Targets {
		t := &p.Targets[i]
		done, err := p.Committed(ctx, t)
		if err != nil {
			return nil, false, err
		}
		if !done {
			all, err := p.checkParts(ctx, t)
			if err == nil {
				err = p.at(t).appear(ctx, all)
			}
			if done, doneErr := p.Committed(ctx, t); err != nil && (doneErr != nil || !done) { // else another commit was faster
				return nil, false, err
			}
			told, unchanged = append(told, all...), false
		}
		p.Tidy(ctx, t)
	}
	return told, unchanged, nil
}

// checkParts compares all parts of t with what their tasks told. There must be no others.
func (p *Plan) checkParts(ctx context.Context, t *Target) ([]Task, error) {
	all := make([]Task, len(t.Parts))
	at := p.at(t)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(at.parallel())
	for i := range t.Parts {
		part := &t.Parts[i]
		group.Go(func() error {
			task, err := p.Told(inner, t, part)
			if err != nil {
				return err
			}
			if task == nil {
				return fail(ErrIncomplete, "run it, then commit again", "part %d is not there any more", part.Index)
			}
			all[i] = *task
			return at.check(inner, task)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return all, at.alone(ctx, p.names(t))
}
