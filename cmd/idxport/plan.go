package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
)

const planUsage = `idxport plan INPUT... -o OUT --plan FILE [--rows-per-part N] [flags]

Divides a conversion into parts that any scheduler can run, as an array of jobs on Kubernetes, AWS
Batch or Slurm, or as a few processes on one machine. FILE records the inputs, the rows of each part
and the options.

  idxport convert --plan FILE --part N   make part N; it may be run again
  idxport status --plan FILE             print the missing parts, such as 3,7-9
  idxport commit --plan FILE             publish the output when all parts exist
  idxport abort --plan FILE              remove the parts if not committed

The table of each split becomes a folder of part files. INPUT must be IDX. A compressed input becomes one part, unless it is zstd with a seek table, as written by
convert -o NAME.idx.zst. INPUT, OUT and FILE may be on S3.`

// planCommand is `idxport plan`.
func (p *program) planCommand() *cli.Command {
	return p.command(&cli.Command{
		Name:      "plan",
		Usage:     "divide a conversion into parts, for many processes or machines",
		UsageText: planUsage,
	}, p.plan)
}

// plan does the work of `idxport plan`.
func (p *program) plan(ctx context.Context, _ *cli.Command, s *settings, r *report) error {
	if s.plan == "" {
		return usagef("no --plan").WithHint("say where to write it: --plan plan.json")
	}
	work, path, report, err := convert.WritePlan(ctx, s.Options, s.rowsPerPart, s.plan)
	r.Report = report
	if err != nil {
		return err
	}
	r.Plan = &planReport{ID: work.ID, Path: path, Parts: work.Parts()}
	for _, t := range work.Targets {
		r.print("info", fmt.Sprintf("%s  %s in %s", t.Path, display.Count(t.Rows, "row"), display.Count(int64(len(t.Parts)), "part")))
	}
	which, part := "part 0", "0"
	if last := work.Parts() - 1; last > 0 {
		which, part = fmt.Sprintf("parts 0 to %d", last), "N"
	}
	r.print("info", fmt.Sprintf("%s  %s: idxport convert --plan %s --part %s", path, which, shell.Path(path), part))
	return nil
}

// arrayVariables are set by schedulers to the index of a job in its array, from 0.
var arrayVariables = []string{"JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID"}

// convertPart does the work of `idxport convert --plan`.
func (p *program) convertPart(ctx context.Context, c *cli.Command, s *settings, r *report) error {
	if !c.IsSet("plan") {
		return usagef("found --part without --plan, expected both").WithHint("name the plan: --plan plan.json --part %s", shell.Quote(s.part))
	}
	if c.Args().Present() {
		return usagef("the input %s cannot be combined with --plan, which records the inputs", c.Args().First())
	}
	for _, f := range flagsOf("convert") {
		if name := f.long(); c.IsSet(name) && !f.belongsTo("part") {
			return usagef("--%s cannot be combined with --plan, which records the options", name).WithHint("make a new plan")
		}
	}
	index, err := parsePart(s.part)
	if err != nil {
		return err
	}
	work, err := readPlan(ctx, s, r)
	if err != nil {
		return err
	}
	r.Plan.Part = &index
	r.Report, err = convert.MakePart(ctx, work, index, convert.PartOptions{Verify: s.Verify, Workers: s.Workers, Events: s.Events})
	for _, out := range r.Outputs {
		r.print("info", fmt.Sprintf("part %d  %s  %s", index, display.Count(out.Rows, "row"), display.Bytes(out.Bytes)))
	}
	return err
}

// parsePart reads the value of --part.
func parsePart(text string) (int, error) {
	if text == "" {
		return 0, usagef("no --part").WithHint("give the number of the part: --part 0, or --part env in an array job")
	}
	from, expected := "--part", "a whole number, 0 or greater, or env"
	if text == "env" {
		var set []string
		for _, name := range arrayVariables {
			if os.Getenv(name) != "" {
				set = append(set, name)
			}
		}
		if len(set) != 1 {
			return 0, usagef("--part env: %d of %s are set, expected exactly one", len(set), strings.Join(arrayVariables, ", "))
		}
		from, expected, text = set[0], "a whole number, 0 or greater", os.Getenv(set[0])
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usagef("%s %q, expected %s", from, text, expected)
	}
	return n, nil
}

// readPlan reads the plan of --plan.
func readPlan(ctx context.Context, s *settings, r *report) (*plan.Plan, error) {
	if s.plan == "" {
		return nil, usagef("no --plan").WithHint("name the file that idxport plan wrote: --plan plan.json")
	}
	work, path, err := convert.ReadPlan(ctx, s.plan)
	if err != nil {
		return nil, err
	}
	r.Plan = &planReport{ID: work.ID, Path: path, Parts: work.Parts()}
	return work, nil
}

// onPlan returns a command that does something with a plan.
func (p *program) onPlan(name, usage, text string, do func(context.Context, *plan.Plan, *report) error) *cli.Command {
	return p.command(&cli.Command{Name: name, Usage: usage, UsageText: "idxport " + name + " --plan FILE [flags]\n\n" + text},
		func(ctx context.Context, c *cli.Command, s *settings, r *report) error {
			if c.Args().Present() {
				e := usagef("unexpected argument %s", c.Args().First())
				if s.plan == "" {
					e = e.WithHint("idxport %s --plan %s", name, shell.Path(c.Args().First()))
				}
				return e
			}
			work, err := readPlan(ctx, s, r)
			if err != nil {
				return err
			}
			return do(ctx, work, r)
		})
}

// commitCommand is `idxport commit`.
func (p *program) commitCommand() *cli.Command {
	return p.onPlan("commit", "publish the output of a plan when all its parts exist",
		`Checks every part against what was recorded when it was made. Local files are read again, and their
size and SHA-256 compared; for uploads, the size and ETag in S3's listing are compared. Then each
output is published with an empty file _SUCCESS. A local folder appears in one step; on S3, the objects appear one after
another, and _SUCCESS last. If a part is missing, nothing is published. Committing again changes nothing.`, p.commit)
}

// statusCommand is `idxport status`.
func (p *program) statusCommand() *cli.Command {
	return p.onPlan("status", "print the missing parts of a plan",
		`Prints the numbers of the missing parts to standard output in the syntax of job arrays, such as
3,7-9, or nothing if all parts exist. Status does not read the parts; commit does.`, p.status)
}

// abortCommand is `idxport abort`.
func (p *program) abortCommand() *cli.Command {
	return p.onPlan("abort", "remove the parts of a plan that are not committed",
		`Committed outputs stay. First stop all processes that are making parts: one that is still running
may leave a part behind.`, p.abort)
}

// commit does the work of `idxport commit`.
func (p *program) commit(ctx context.Context, work *plan.Plan, r *report) error {
	results, err := work.Commit(ctx)
	if err != nil {
		return err
	}
	for i := range work.Targets {
		t := &work.Targets[i]
		if results[i] == nil {
			r.Unchanged = append(r.Unchanged, t.Path)
			r.Note("%s: unchanged", t.Path)
			continue
		}
		out := convert.Output{Path: t.Path, Format: t.Format, Rows: t.Rows, Shown: t.Path + "/"}
		for _, part := range results[i] {
			out.Bytes += part.Bytes
			out.Parts = append(out.Parts, convert.Part{Path: source.Under(t.Path, part.Name), Rows: part.Rows, Bytes: part.Bytes, SHA256: part.SHA256})
		}
		files := int64(len(out.Parts))
		out.Files = &files
		r.Outputs = append(r.Outputs, out)
		r.print("info", fmt.Sprintf("%s  %s  %s  %s", filepath.ToSlash(out.Shown), display.Count(t.Rows, "row"), display.Count(files, "file"), display.Bytes(out.Bytes)))
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
	exist := "exist"
	if work.Parts() == 1 {
		exist = "exists"
	}
	r.print("info", fmt.Sprintf("%d of %s %s", work.Parts()-n, display.Count(int64(work.Parts()), "part"), exist))
	if n > 0 && !r.settings.json {
		_, err = fmt.Fprintln(p.stdout, r.Plan.Array)
	}
	return err
}

// abort does the work of `idxport abort`.
func (p *program) abort(ctx context.Context, work *plan.Plan, _ *report) error {
	return work.Abort(ctx)
}
