package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// Commit makes the targets appear, once all their parts are there with the sizes and hashes that their tasks told: a folder in one step, objects one after another.
// What was committed before stays as it is: to commit twice is to commit once. For each target it returns the tasks in the order of the parts, or none where there was nothing to do.
func (p *Plan) Commit(ctx context.Context) (told [][]Task, err error) {
	missing, err := p.Missing(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fail(fault.Refused, fmt.Sprintf("run them: idxport convert --plan %s --part N; idxport status lists them", shell.Path(p.path)), "%d of %d parts are missing: %s",
			len(missing), p.Parts(), shortSpec(missing))
	}
	told = make([][]Task, len(p.Targets))
	for i := range p.Targets { // all of them, before one is seen
		if told[i], err = p.checkParts(ctx, &p.Targets[i]); err != nil {
			return nil, err
		}
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		if told[i] != nil {
			err := p.at(t).appear(ctx, told[i])
			done, doneErr := p.Committed(ctx, t)
			switch {
			case doneErr != nil:
				return nil, doneErr
			case !done && err == nil:
				return nil, aborted(t)
			case !done, errors.Is(err, errAborted):
				return nil, err
			case err != nil: // another commit was faster
				told[i] = nil
			}
		}
		p.Tidy(ctx, t)
	}
	return told, nil
}

// checkParts compares all parts of t with what their tasks told. There must be no others. There are no tasks if t is committed.
func (p *Plan) checkParts(ctx context.Context, t *Target) ([]Task, error) {
	done, err := p.Committed(ctx, t)
	if done || err != nil {
		return nil, err
	}
	all := make([]Task, len(t.Parts))
	at := p.at(t)
	err = each(ctx, at.parallel(), len(t.Parts), func(ctx context.Context, i int) error {
		part := &t.Parts[i]
		task, err := p.Told(ctx, t, part)
		if err != nil {
			return err
		}
		if task == nil {
			return fail(fault.Refused, "run it, then commit again", "part %d is not there any more", part.Index)
		}
		all[i] = *task
		return at.check(ctx, task)
	})
	if err == nil {
		err = at.alone(ctx, p.files(t))
	}
	if err == nil {
		return all, nil
	}
	if done, doneErr := p.Committed(ctx, t); doneErr == nil && done { // another commit was faster
		return nil, nil
	}
	return nil, err
}
