package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// arrayVariables are where schedulers tell a job its index in its array, from 0.
var arrayVariables = []string{"JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID"}

// partFlagNames are the flags that may stand beside --plan.
var partFlagNames = []string{"plan", "part", "verify", "workers", "progress", "quiet", "json", "log-format"}

// convertPart does the work of `idxport convert --plan`.
func (p *program) convertPart(ctx context.Context, c *cli.Command, r *report) error {
	if !c.IsSet("plan") {
		return usagef("--part is for plans, and there is no --plan").WithHint("name the plan: --plan plan.json --part %s", shell.Quote(c.String("part")))
	}
	if c.Args().Present() {
		return usagef("found the input %s beside --plan, which says what the inputs are", c.Args().First())
	}
	for _, f := range convertFlags() {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(partFlagNames, name) {
			return usagef("found --%s beside --plan, which says it", name).WithHint("make another plan")
		}
	}
	index, err := parsePart(c.String("part"))
	if err != nil {
		return err
	}
	work, err := readPlan(ctx, c, r)
	if err != nil {
		return err
	}
	t, part, err := work.Part(index)
	if err != nil {
		return err
	}
	r.Plan.Part = &index
	if work.Tool != toolVersion {
		return usagef("the plan is of %s, and this is %s: other versions may make other bytes", work.Tool, toolVersion).WithHint("run all parts with the version that made the plan")
	}
	if there, err := p.partIsThere(ctx, work, t, part, r); there || err != nil {
		return err
	}
	err = p.makePart(ctx, c, work, t, part, r)
	if done, doneErr := work.Committed(ctx, t); doneErr == nil && done { // meanwhile: another attempt was faster
		work.Tidy(ctx, t)
		r.note("%s is committed already", t.Path)
		return nil
	}
	if errors.Is(err, fault.Exists) {
		name := source.Under(t.Path, work.FileName(t, part))
		return fault.New(fault.Exists, "it is there already").In(name).WithHint("idxport commit ends what a commit has begun; or move it away")
	}
	return err
}

// parsePart reads the value of --part.
func parsePart(text string) (int, error) {
	if text == "" {
		return 0, usagef("no --part").WithHint("say which: --part 0, or --part env in a job of an array")
	}
	from := "--part"
	if text == "env" {
		var set []string
		for _, name := range arrayVariables {
			if os.Getenv(name) != "" {
				set = append(set, name)
			}
		}
		if len(set) != 1 {
			return 0, usagef("--part env: found %d of %s set, expected one", len(set), strings.Join(arrayVariables, ", "))
		}
		from, text = set[0], os.Getenv(set[0])
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usagef("%s %q, expected a number from 0 on, or env", from, text)
	}
	return n, nil
}

// readPlan reads the plan of --plan.
func readPlan(ctx context.Context, c *cli.Command, r *report) (*plan.Plan, error) {
	if c.String("plan") == "" {
		return nil, usagef("no --plan").WithHint("name the file that idxport plan wrote")
	}
	objects := new(object.Store)
	path, err := takeURL(objects, c.String("plan"))
	if err != nil {
		return nil, err
	}
	work, err := plan.Read(ctx, objects, path)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return nil, fault.In(path, err)
	}
	if err != nil {
		return nil, err
	}
	r.Plan = &planReport{ID: work.ID, Path: path, Parts: work.Parts()}
	return work, nil
}

// partIsThere tells whether the part was made already.
func (p *program) partIsThere(ctx context.Context, work *plan.Plan, t *plan.Target, part *plan.Part, r *report) (bool, error) {
	if done, err := work.Committed(ctx, t); err != nil {
		return false, err
	} else if done {
		r.note("%s is committed already", t.Path)
		return true, nil
	}
	task, err := work.Told(ctx, t, part)
	if task != nil {
		r.note("part %d is there already", part.Index)
	}
	return task != nil, err
}

// makePart makes a part under a name of its own and delivers it.
func (p *program) makePart(ctx context.Context, c *cli.Command, work *plan.Plan, t *plan.Target, part *plan.Part, r *report) error {
	if err := t.CheckInputs(ctx, part); err != nil {
		return err
	}
	attempt, err := work.Attempt(t, part)
	if err != nil {
		return err
	}
	o, err := p.partOptions(ctx, work, t, part, attempt)
	if err != nil {
		return err
	}
	seen := o.newWatch(ctx, t, part)
	o.place = seen
	o.workers, err = parseWorkers(c)
	if err != nil {
		return err
	}
	o.verify = c.Bool("verify")
	inner := *r // its outputs are attempts, of which nobody needs to know
	inner.quiet = true
	if err := p.convert(ctx, o, &inner); err != nil {
		return err
	}
	if err := seen.check(); err != nil {
		return errors.Join(err, work.Discard(ctx, t, attempt, o.staged))
	}
	r.Inputs, r.Applied, r.Verified = inner.Inputs, inner.Applied, inner.Verified
	for _, n := range inner.Notes {
		r.note("%s", n)
	}
	for _, w := range inner.Warnings {
		r.warning("%s", w)
	}
	out := inner.Outputs[0]
	if err := work.Deliver(ctx, t, part, attempt, plan.Task{Bytes: out.Bytes, SHA256: out.SHA256, Upload: o.staged}); err != nil {
		return err
	}
	out.Path = source.Under(t.Path, work.FileName(t, part)) // where it will be
	r.Outputs = append(r.Outputs, out)
	r.tell("info", fmt.Sprintf("part %d  %s  %s", part.Index, counted(out.Rows, "row"), bytesText(out.Bytes)))
	return nil
}

// partOptions are the options of a run of convert that makes the part at the path attempt.
func (p *program) partOptions(ctx context.Context, work *plan.Plan, t *plan.Target, part *plan.Part, attempt string) (o *convertOptions, err error) {
	args := []string{"convert", "--dataset=" + t.Dataset, "--output=" + t.Format + "=" + attempt}
	for _, arg := range work.Arguments { // a plan decides on the bytes of parts, and on nothing else
		name, _, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok || !strings.HasPrefix(arg, "--") || !slices.Contains(planFlagNames, name) || slices.Contains(placeFlagNames, name) {
			return nil, fault.New(fault.Malformed, "the plan has the argument %q, which is none of a part", arg).WithHint("make it anew with idxport plan")
		}
		args = append(args, arg)
	}
	args = append(args, "--")
	var inputs []dataset.Input
	for _, in := range t.Inputs {
		if in.Column != "" {
			inputs = append(inputs, dataset.Input{Path: in.Path, Name: in.Column})
			args = append(args, in.Path)
		}
	}
	command := p.convertCommand()
	command.DisableSliceFlagSeparator = true
	command.Action = func(_ context.Context, c *cli.Command) (err error) {
		o, err = parseConvert(c, false)
		return err
	}
	if err := command.Run(ctx, args); err != nil {
		return nil, err
	}
	o.inputs, o.objects, o.checksum, o.planID = inputs, work.Objects, true, work.ID
	if object.IsURL(attempt) {
		o.staged = new(object.PendingUpload)
	}
	o.rows = rowRange{given: true, first: part.First, last: part.Last}
	return o, nil
}
