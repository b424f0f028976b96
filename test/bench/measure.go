//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// folderPrefix begins the names of the folders for outputs and inputs; all are removed.
const folderPrefix = "idxport-bench-"

// patience is how long a process that was interrupted may take to clean up.
const patience = 5 * time.Second

// figures are those of one process, or the medians of several: milliseconds, and megabytes (10⁶
// bytes) of resident memory.
type figures struct{ wall, cpu, peak float64 }

// A result is the outcome of a contest. ratio is the median of the ratios of neighbouring runs.
type result struct {
	contest
	run, limitRun figures
	ratio         float64
}

// hold runs both sides of a contest in turn; the first turn is not counted.
func (s *settings) hold(ctx context.Context, c contest, work string) (result, error) {
	folder := work
	if c.durable {
		folder = s.disk
	}
	run := append(append([]string{s.binary, "convert"}, c.run...), "--quiet")
	limit := slices.Clone(c.limit)
	if limit[0] == "self" {
		limit = append([]string{s.self, "-limit"}, limit[1:]...)
	}
	ours, theirs, ratio, err := s.turns(ctx, run, limit, s.runs, work, folder)
	return result{c, ours, theirs, ratio}, err
}

// turns runs two commands in turn, n times each after a turn that is not counted, and returns their
// medians and the median of the ratios of neighbours.
func (s *settings) turns(
	ctx context.Context, run, limit []string, n int, work, folder string,
) (ours, theirs figures, ratio float64, err error) {
	var left, right []figures
	var ratios []float64
	for i := range n + 1 {
		a, err := s.once(ctx, run, work, folder)
		if err != nil {
			return ours, theirs, 0, err
		}
		b, err := s.once(ctx, limit, work, folder)
		if err != nil {
			return ours, theirs, 0, err
		}
		if i > 0 {
			left, right, ratios = append(left, a), append(right, b), append(ratios, a.wall/b.wall)
		}
	}
	return medians(left), medians(right), median(ratios), nil
}

// once runs a command with a fresh output folder below folder and measures the process.
func (s *settings) once(ctx context.Context, command []string, work, folder string) (f figures, err error) {
	out, err := os.MkdirTemp(folder, folderPrefix+"*")
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	paths := s.paths(work, out)
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = paths.Replace(a)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.Stderr = os.Stderr
	start := time.Now()
	err = cmd.Run()
	f.wall = float64(time.Since(start).Microseconds()) / 1000
	if ctx.Err() != nil {
		return f, fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	f.cpu = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1000
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.peak = float64(usage.Maxrss) * 1024 / 1e6 // KiB on Linux
	}
	return f, nil
}

func medians(all []figures) figures {
	of := func(get func(figures) float64) float64 {
		var values []float64
		for _, f := range all {
			values = append(values, get(f))
		}
		return median(values)
	}
	return figures{
		wall: of(func(f figures) float64 { return f.wall }),
		cpu:  of(func(f figures) float64 { return f.cpu }),
		peak: of(func(f figures) float64 { return f.peak }),
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
