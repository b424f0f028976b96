//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// results are the measurements of a run.
type results struct {
	session      string // about the machine, for a reader of the figures
	contests     []result
	start, empty figures // of `idxport version`, and of an empty Go program
	size         float64 // MB (10⁶ bytes) of the program
}

// session describes the program and the machine before the measurement.
func (s *settings) session(ctx context.Context) string {
	output := func(name string, args ...string) string {
		text, _ := exec.CommandContext(ctx, name, args...).Output() // empty if it fails
		first, _, _ := strings.Cut(string(text), "\n")
		return first
	}
	load, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s; %s, %s %s, %d cores, load before the run %s; outputs on %s, durable ones on %s.",
		output(s.binary, "version"), time.Now().UTC().Format(time.DateOnly), output("uname", "-sr"),
		runtime.GOARCH, runtime.NumCPU(), first,
		output("stat", "-f", "-c", "%T", s.tmp), output("stat", "-f", "-c", "%T", s.disk))
}

// ownPeak is this program's peak memory in MB, the smallest peak of a child that can be measured:
// see input.
func ownPeak() float64 {
	text, _ := os.ReadFile("/proc/self/status") // 0 if there is none
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib * 1024 / 1e6
}

func (r result) text() string {
	return fmt.Sprintf("%-52s  %7.1f ms, user+sys %7.1f ms, peak %6.1f MB; limit %7.1f ms; ratio %5.2f of %4.2f",
		r.name, r.run.wall, r.run.cpu, r.run.peak, r.limitRun.wall, r.ratio, r.aim)
}

// writeMarkdown writes the results between the markers of the file of -write, if there is one.
func (s *settings) writeMarkdown(all results) error {
	if s.write == "" {
		return nil
	}
	text, err := os.ReadFile(s.write)
	if err != nil {
		return err
	}
	filled, err := replaceSection(string(text), all.markdown(s.runs))
	if err != nil {
		return err
	}
	return os.WriteFile(s.write, []byte(filled), 0o666)
}

// replaceSection puts body between the markers.
func replaceSection(text, body string) (string, error) {
	const begin, end = "\n<!-- begin contests -->\n", "\n<!-- end contests -->\n"
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut("\n"+rest, end)
	if !found || !ended {
		return "", fmt.Errorf("found no section between the lines %q and %q", begin[1:], end[1:])
	}
	return before + begin + body + end[1:] + after, nil
}

// markdown is the text between the markers.
func (all results) markdown(runs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s Peaks below %.0f MB cannot be measured.\n", all.session, ownPeak())
	fmt.Fprintf(&b, "Medians of %d runs, of %d for the start-up.\n", runs, startRuns*runs)
	b.WriteString("\n| contest | idxport, ms | user+sys, ms | peak, MB | limit, ms | ratio | aim |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, r := range all.contests {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f |\n",
			r.name, r.run.wall, r.run.cpu, r.run.peak, r.limitRun.wall, r.ratio, r.aim)
	}
	b.WriteString("\n| start-up | ms | user+sys, ms | empty program, ms | its user+sys, ms | aim, ms |\n" +
		"|---|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| `idxport version` | %.1f | %.1f | %.1f | %.1f | %d.0 |\n",
		all.start.wall, all.start.cpu, all.empty.wall, all.empty.cpu, startAim)
	b.WriteString("\n| size | MB | aim, MB |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| the program, static and stripped | %.2f | %d.0 |\n", all.size, sizeAim)
	return b.String()
}
