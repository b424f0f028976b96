package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source/dataset"
)

const planUsage = `idxport plan INPUT... -o OUT --rows-per-part N --plan FILE [flags]

Divides a conversion into parts that run anywhere: as jobs of an array under Kubernetes, AWS Batch or Slurm, or a few processes on one machine, on one file
system or on S3. FILE says which rows each part has, what they are made of, and with which flags. Then

   idxport convert --plan FILE --part N     makes part N; twice, at once or later, is harmless
   idxport status --plan FILE               prints the parts that are missing, as schedulers take them: 3,7-9
   idxport commit --plan FILE               makes the output appear, if all parts are there and right
   idxport abort --plan FILE                removes what the parts have left

OUT and the flags are as in convert; each output becomes a folder of parts. Inputs are IDX files; those that are compressed become one part each, unless they
are zstd with a seek table, which convert -o NAME.idx.zst writes. Inputs, OUT and FILE may be in object storage.`

// planFlagNames are the flags of convert that decide on the bytes of a part.
var planFlagNames = []string{"split", "dataset", "classes", "reshape", "byte-order", "max-record-bytes", "output", "to", "transpose", "invert", "compression", "layout", "csv-style",
	"class-column", "label-column", "channels"}

// placeFlagNames are those of them that say what is read and written: a plan has them in its targets.
var placeFlagNames = []string{"split", "dataset", "output", "to"}

// usualPartBytes is about how much of the inputs becomes a part where the user does not say it.
const usualPartBytes = 256 << 20

// toolVersion is the program as plans name it: another version may make other bytes.
const toolVersion = "idxport " + version

// planCommand is `idxport plan`.
func (p *program) planCommand() *cli.Command {
	flags := slices.DeleteFunc(convertFlags(), func(f cli.Flag) bool { return !slices.Contains(planFlagNames, f.Names()[0]) })
	flags = append(flags,
		&cli.Int64Flag{Name: "rows-per-part", Category: aboutOutput, Usage: "how many rows a part has: `N`; about 256 MiB of the inputs if it is not given", HideDefault: true},
		&cli.StringFlag{Name: "plan", Category: aboutOutput, Usage: "write the plan to `FILE`"},
		&cli.BoolFlag{Name: "overwrite", Category: aboutOutput, Usage: "replace a plan that exists"})
	return &cli.Command{
		Name:            "plan",
		Usage:           "divide a conversion into parts for many processes or machines",
		UsageText:       planUsage,
		Flags:           append(flags, runFlags()...),
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			return p.reporting(ctx, c, func(r *report) error { return p.plan(ctx, c, r) })
		},
	}
}

// planReport tells of a plan.
type planReport struct {
	ID      string `json:"plan_id"`
	Path    string `json:"path"`
	Parts   int    `json:"parts"`
	Part    *int   `json:"part,omitempty"` // the one that was made
	Missing *int   `json:"missing,omitempty"`
	Array   string `json:"array,omitempty"` // those that are missing: 3,7-9
}

// plan does the work of `idxport plan`.
func (p *program) plan(ctx context.Context, c *cli.Command, r *report) error {
	if c.String("plan") == "" {
		return usagef("no --plan").WithHint("say where to write it: --plan plan.json")
	}
	perPart := c.Int64("rows-per-part")
	if perPart < 0 || c.IsSet("rows-per-part") && perPart == 0 {
		return usagef("--rows-per-part %d, expected at least 1", perPart)
	}
	o, err := parseConvert(c, true)
	if err != nil {
		return err
	}
	path, err := o.take(c.String("plan"))
	if err != nil {
		return err
	}
	jobs, err := p.jobsWithOutputs(ctx, o, r)
	if err != nil {
		return err
	}
	defer closeAll(jobs)
	made := &plan.Plan{Tool: toolVersion, Arguments: o.planArguments(c), Objects: o.objects, Parameters: o.objects.Parameters()}
	for _, j := range jobs {
		r.describe(j)
		if err := p.addTarget(ctx, o, made, j, perPart, r); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(made.Targets, func(t plan.Target) bool { return t.Path == path || t.Reads(path) }) {
		return usagef("--plan %s: it is an input or an output", path).WithHint("give the plan a name of its own")
	}
	made.Complete(time.Now())
	if err := made.Write(ctx, path, c.Bool("overwrite")); err != nil {
		return err
	}
	r.Plan = &planReport{ID: made.ID, Path: path, Parts: made.Parts()}
	for _, t := range made.Targets {
		r.tell("info", fmt.Sprintf("%s  %s in %s", t.Path, counted(t.Rows, "row"), counted(int64(len(t.Parts)), "part")))
	}
	r.tell("info", fmt.Sprintf("%s  parts 0 to %d: idxport convert --plan %s --part N", path, made.Parts()-1, shell.Path(path)))
	return nil
}

// planArguments are the flags that were given, as every part gets them.
func (o *convertOptions) planArguments(c *cli.Command) []string {
	args := []string{}
	for _, name := range planFlagNames {
		if !c.IsSet(name) || slices.Contains(placeFlagNames, name) {
			continue
		}
		if name == "classes" { // without the parameters of a URL
			args = append(args, "--classes="+o.classes)
			continue
		}
		if list, ok := c.Value(name).([]string); ok {
			for _, v := range list {
				args = append(args, "--"+name+"="+v)
			}
			continue
		}
		args = append(args, fmt.Sprintf("--%s=%v", name, c.Value(name)))
	}
	return args
}

// addTarget adds the output of j to the plan.
func (p *program) addTarget(ctx context.Context, o *convertOptions, made *plan.Plan, j *job, perPart int64, r *report) error {
	var outs []output
	for _, pass := range j.passes() {
		outs = append(outs, pass.outputs...)
	}
	if len(outs) != 1 {
		return usagef("found %d outputs of %s, expected one", len(outs), j.label()).WithHint("make a plan for each format")
	}
	out := outs[0]
	if out.division == nil || out.division.mark != publish.PartsMark {
		return usagef("%s cannot be divided into parts", out.name()).WithHint("Parquet, Arrow, CSV and tar can, in any layout but huggingface with -o DIR")
	}
	t := plan.Target{Path: out.path, Format: out.format.Name, Extension: out.division.extension, Rows: j.meant.schema.Rows, Dataset: dataset.DatasetNone}
	if name := j.datasetName(); name != "" {
		t.Dataset = name
	}
	in := &planInputs{program: p, options: o, split: j.split, rows: t.Rows}
	defer in.close()
	for _, f := range j.split.Files {
		whole, err := in.add(ctx, f)
		if err != nil {
			return err
		}
		if whole && t.Rows > 0 {
			perPart = t.Rows
			r.note("%s is compressed and has no seek table that fits, so that %s is one part; for more: idxport convert %s -o NAME.idx.zst, and plan with that", f.Path, t.Path, shell.Path(f.Path))
		}
	}
	if o.classes != "" {
		if err := in.addWhole(ctx, o.classes); err != nil {
			return err
		}
	}
	t.Inputs = in.inputs
	if perPart == 0 {
		perPart = max(1, usualPartBytes/max(1, j.meant.schema.RowSize()))
	}
	if err := t.Cut(ctx, perPart, made.Parts(), in.span); err != nil {
		return err
	}
	made.Targets = append(made.Targets, t)
	there, err := made.There(ctx, &t)
	if there {
		r.note("%s is there already: commit will refuse to replace it, unless this plan has made it", t.Path)
	}
	return err
}
