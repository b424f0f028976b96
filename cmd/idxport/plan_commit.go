package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
)

// planFlag is the only flag about the work of the commands that look after a plan.
func planFlag() cli.Flag {
	return &cli.StringFlag{Name: "plan", Category: aboutInput, Usage: "the plan in `FILE`, as idxport plan wrote it"}
}

// onPlan is a command that does something with a plan.
func (p *program) onPlan(name, usage, text string, do func(context.Context, *plan.Plan, *report) error) *cli.Command {
	return &cli.Command{
		Name:            name,
		Usage:           usage,
		UsageText:       "idxport " + name + " --plan FILE [flags]\n\n" + text,
		Flags:           append([]cli.Flag{planFlag()}, runFlags()...),
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			return p.reporting(ctx, c, func(r *report) error {
				if c.Args().Present() {
					return usagef("found the argument %s, expected --plan FILE alone", c.Args().First())
				}
				work, err := readPlan(ctx, c, r)
				if err != nil {
					return err
				}
				return do(ctx, work, r)
			})
		},
	}
}

// commitCommand is `idxport commit`.
func (p *program) commitCommand() *cli.Command {
	return p.onPlan("commit", "make the output of a plan appear, once all its parts are there",
		`Compares every part with what the run told that made it: files are read again, of uploads the storage tells the parts. Then each output appears, with an empty
_SUCCESS: a folder in one step, objects one after another and _SUCCESS last. If a part is missing, nothing does. To commit again changes nothing.`, p.commit)
}

// statusCommand is `idxport status`.
func (p *program) statusCommand() *cli.Command {
	return p.onPlan("status", "print the parts of a plan that are missing",
		`Prints the indices of the parts that are missing on standard output, as schedulers take them for an array of jobs: 3,7-9; nothing if all are there.`, p.status)
}

// abortCommand is `idxport abort`.
func (p *program) abortCommand() *cli.Command {
	return p.onPlan("abort", "remove what the parts of a plan have left",
		`Removes the parts that are not committed. Outputs that are stay. Stop the runs of the parts first: one that goes on may leave something again.`, p.abort)
}

// commit does the work of `idxport commit`.
func (p *program) commit(ctx context.Context, work *plan.Plan, r *report) error {
	told, err := work.Commit(ctx)
	if err != nil {
		return err
	}
	for i := range work.Targets {
		t := &work.Targets[i]
		if told[i] == nil {
			r.Unchanged = append(r.Unchanged, t.Path)
			r.note("%s: unchanged", t.Path)
			continue
		}
		out := outputReport{Path: t.Path, Format: t.Format, Rows: t.Rows, shown: t.Path + "/"}
		for _, task := range told[i] {
			out.Bytes += task.Bytes
			out.Parts = append(out.Parts, partReport{Path: source.Under(t.Path, task.Name), Rows: task.Rows, Bytes: task.Bytes, SHA256: task.SHA256})
		}
		files := int64(len(out.Parts))
		out.Files = &files
		r.Outputs = append(r.Outputs, out)
		r.tell("info", fmt.Sprintf("%s  %s  %s  %s", filepath.ToSlash(out.shown), counted(t.Rows, "row"), counted(files, "file"), bytesText(out.Bytes)))
	}
	return nil
}

// status does the work of `idxport status`.
func (p *program) status(ctx context.Context, work *plan.Plan, r *report) error {
	missing, err := work.Missing(ctx)
	if err != nil {
		return err
	}
	n := len(missing)
	r.Plan.Missing, r.Plan.Array = &n, plan.Spec(missing)
	r.tell("info", fmt.Sprintf("%d of %s are there", work.Parts()-n, counted(int64(work.Parts()), "part")))
	if n > 0 && !r.jsonOut {
		_, err = fmt.Fprintln(p.stdout, r.Plan.Array)
	}
	return err
}

// abort does the work of `idxport abort`.
func (p *program) abort(ctx context.Context, work *plan.Plan, _ *report) error {
	return work.Abort(ctx)
}
