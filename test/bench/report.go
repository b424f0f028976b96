//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// results are what a run measured; -json writes them.
type results struct {
	Session  session
	Contests []result     `json:",omitempty"`
	Start    *start       `json:",omitempty"`
	Size     *size        `json:",omitempty"`
	Scale    []scalePoint `json:",omitempty"`
}

// A session is what a reader of figures must know.
type session struct {
	Date, Program, Go, System, Load string
	Cores, Runs                     int
	Tmp, Disk                       string  // file systems
	Floor                           float64 // MB; smaller peaks cannot be measured
}

// session describes the machine before the measurement; Floor is known after it.
func (s *settings) session(ctx context.Context) session {
	v := session{Date: time.Now().UTC().Format(time.DateOnly), Go: runtime.Version(), Cores: runtime.NumCPU(), Runs: s.runs}
	if text, err := exec.CommandContext(ctx, s.binary, "version").Output(); err == nil {
		v.Program, _, _ = strings.Cut(string(text), "\n")
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		v.System = "Linux " + unix.ByteSliceToString(name.Release[:]) + " " + runtime.GOARCH
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		v.Load, _, _ = strings.Cut(string(text), " ")
	}
	v.Tmp, _ = fileSystem(s.tmp) // for the reader alone
	v.Disk, _ = fileSystem(s.disk)
	return v
}

// ownPeak is this program's peak memory in MB, which the peak of a child cannot read below: see
// input. 0 if it is not known.
func ownPeak() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close() // only read from
	kib, err := field(f, "VmHWM:")
	if err != nil {
		return 0
	}
	return kib * 1024 / 1e6
}

const contestHead = "contest                                               idxport ms  user+sys ms  peak MB  limit ms  ratio   aim"

func (r result) text() string {
	return fmt.Sprintf("%-52s  %10.1f  %11.1f  %7.1f  %8.1f  %5.2f  %4.2f", r.Name, r.Run.Wall, r.Run.CPU, r.Run.Peak, r.Limit.Wall, r.Ratio, r.Most)
}

// writeJSON writes the file of -json, if that was asked for.
func (s *settings) writeJSON(all results) error {
	if s.jsonPath == "" {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.jsonPath, append(text, '\n'), 0o666)
}

// section is the part of the results file that a run makes: the contests, or the scale curve.
func (s *settings) section() string {
	if s.scale {
		return "scale"
	}
	return "contests"
}

// checkWrite finds out before the measurement whether -write can succeed. A part of the contests
// would erase the rows of the rest.
func (s *settings) checkWrite() error {
	if s.write == "" {
		return nil
	}
	if !s.scale && (s.only != "" || !s.withLarge) {
		return errors.New("-write replaces the whole table: leave out -only and -large=false")
	}
	text, err := os.ReadFile(s.write)
	if err != nil {
		return err
	}
	_, err = replaceSection(string(text), s.section(), "")
	if err != nil {
		return fmt.Errorf("%s: %w", s.write, err)
	}
	return nil
}

// writeMarkdown puts the results between the markers of the file of -write, if that was asked for.
// What stands outside is left as it is.
func (s *settings) writeMarkdown(all results) error {
	if s.write == "" {
		return nil
	}
	text, err := os.ReadFile(s.write)
	if err != nil {
		return err
	}
	filled, err := replaceSection(string(text), s.section(), all.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", s.write, err)
	}
	return os.WriteFile(s.write, []byte(filled), 0o666)
}

// replaceSection puts body between the markers of the section called name: lines of their own, each
// there once.
func replaceSection(text, name, body string) (string, error) {
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	lines := slices.Collect(strings.Lines(text))
	var at [2]int // indices of the markers' lines
	for i, marker := range []string{begin, end} {
		n := 0
		for k, line := range lines {
			if line == marker {
				n, at[i] = n+1, k
			}
		}
		if n != 1 {
			return "", fmt.Errorf("found the line %q %d times, expected it once", strings.TrimSpace(marker), n)
		}
	}
	if at[1] < at[0] {
		return "", fmt.Errorf("%q stands before %q", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	return strings.Join(lines[:at[0]+1], "") + body + strings.Join(lines[at[1]:], ""), nil
}

// markdown is what stands between the markers.
func (all results) markdown() string {
	var b strings.Builder
	v := all.Session
	fmt.Fprintf(&b, "%s; %s, %s, %d cores, load before the run %s; outputs on %s, durable ones on %s. Peaks below %.0f MB are not told apart.\n",
		v.Program, v.Date, v.System, v.Cores, v.Load, v.Tmp, v.Disk, v.Floor)
	if all.Scale != nil {
		fmt.Fprintf(&b, "Medians of %d runs, or one run where it takes longer than %d s.\n", min(v.Runs, scaleRuns), longRun/1000)
		b.WriteString("\n| input | format | workers | ms | user+sys, ms | peak, MB | GB/s |\n|---|---|---|---|---|---|---|\n")
	} else {
		fmt.Fprintf(&b, "Medians of %d runs, of %d for the start-up.\n", v.Runs, startRuns*v.Runs)
		b.WriteString("\n| contest | idxport, ms | user+sys, ms | peak, MB | limit, ms | ratio | aim |\n|---|---|---|---|---|---|---|\n")
	}
	for _, p := range all.Scale {
		fmt.Fprintf(&b, "| %s | %s | %d | %.0f | %.0f | %.1f | %.2f |\n", gibText(p.GiB), p.Format, p.Workers, p.Run.Wall, p.Run.CPU, p.Run.Peak, p.Speed)
	}
	for _, r := range all.Contests {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f |\n", r.Name, r.Run.Wall, r.Run.CPU, r.Run.Peak, r.Limit.Wall, r.Ratio, r.Most)
	}
	if z := all.Start; z != nil {
		b.WriteString("\n| start-up | ms | user+sys, ms | empty program, ms | its user+sys, ms | aim, ms |\n|---|---|---|---|---|---|\n")
		fmt.Fprintf(&b, "| `idxport version` | %.1f | %.1f | %.1f | %.1f | %.1f |\n", z.Run.Wall, z.Run.CPU, z.Empty.Wall, z.Empty.CPU, z.Most)
	}
	if z := all.Size; z != nil {
		fmt.Fprintf(&b, "\n| size | MB | aim, MB |\n|---|---|---|\n| %s | %.2f | %.1f |\n", z.name(), z.MB, z.Most)
	}
	return b.String()
}
