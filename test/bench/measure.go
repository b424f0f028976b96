//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// figures are those of one process, or the medians of several: milliseconds, and megabytes (10⁶ bytes) of resident memory.
type figures struct{ Wall, CPU, Peak float64 }

// result is what a contest came to. Ratio is the median of the ratios of neighbouring runs.
type result struct {
	contest
	Run, Limit figures
	Ratio      float64
}

// hold runs both sides of a contest in turn, once without counting.
func (s *settings) hold(c contest, work string) (result, error) {
	folder := work
	if c.durable {
		folder = s.disk
	}
	run := append(append([]string{s.binary, "convert"}, c.run...), "--quiet")
	limit := slices.Clone(c.limit)
	if limit[0] == "self" {
		limit = append([]string{s.self, "-limit"}, limit[1:]...)
	}
	var ours, theirs []figures
	var ratios []float64
	for i := range s.runs + 1 {
		a, err := s.once(run, work, folder)
		if err != nil {
			return result{}, err
		}
		b, err := s.once(limit, work, folder)
		if err != nil {
			return result{}, err
		}
		if i > 0 {
			ours, theirs, ratios = append(ours, a), append(theirs, b), append(ratios, a.Wall/b.Wall)
		}
	}
	return result{c, medians(ours), medians(theirs), median(ratios)}, nil
}

// once runs a command with a fresh output folder below folder and measures the process.
func (s *settings) once(command []string, work, folder string) (f figures, err error) {
	out, err := os.MkdirTemp(folder, "idxport-bench-*")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(out) // the next run gets a folder of its own in any case
	paths := s.paths(work, out)
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = paths.Replace(a)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err = cmd.Run()
	f.Wall = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		return f, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	f.CPU = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1000
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.Peak = float64(usage.Maxrss) * 1024 / 1e6 // KiB on Linux
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
	return figures{of(func(f figures) float64 { return f.Wall }), of(func(f figures) float64 { return f.CPU }), of(func(f figures) float64 { return f.Peak })}
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
