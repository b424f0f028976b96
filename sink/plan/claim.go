package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

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

// claim claims the target for the plan. It is fresh if nobody had claimed it. A commit goes on with what another has begun; an abort takes over what others of this plan are at.
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
	return fail(fault.Exists, fmt.Sprintf("let it end, or end it: idxport abort with that plan; %s tells of it", shell.Path(b.claimed())),
		"%s: another plan is at work there: plan_id %q, %s", b.target.Path, c.Plan, c.Work)
}

// aborted is the error for a commit that met an abort.
func aborted(t *Target) error {
	return fail(fault.Refused, "let it end, or end it: idxport abort; then run the parts again", "%s is being aborted, or was aborted meanwhile", t.Path).
		Because(errAborted)
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
	if err == nil && now != nil && now.Plan == b.plan.ID && now.Work == work {
		err = b.store.Remove(ctx, b.claimed())
	}
	return err
}

// stays tells whether no abort of this plan is at work.
func (b *bucket) stays(ctx context.Context) (bool, error) {
	now, err := b.claimant(ctx)
	return err == nil && (now == nil || now.Plan != b.plan.ID || now.Work != aborting), err
}
