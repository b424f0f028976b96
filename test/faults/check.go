//go:build linux && amd64

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An outcome is how a run with a fault ended, and what is demanded of it.
type outcome struct {
	mayRefuse bool // the input is a pipe or a device, which is an error of the user (64)
	end       ending
	text      string // on standard error

	success    bool // it must have succeeded: programs have to cope with the fault
	failure    bool // it must have failed
	mayLeave   bool // hidden files may be left: it was killed, or could not delete
	brokenPipe bool // exit 141 is right
	mayCrash   bool // Go's runtime may end the program, for lack of memory or descriptors
	mayVanish  bool // a target may be missing, as between two renames; the rerun must repair it
}

// judge returns everything that is wrong in dir after a run, and after the same run again without
// a fault.
func (b *bench) judge(dir string, o outcome) []string {
	var wrong []string
	got, err := readTree(dir)
	if err != nil {
		return []string{err.Error()}
	}
	state, allNew := b.targetsIn(got, o.mayVanish)
	wrong = append(wrong, state...)
	wrong = append(wrong, b.judgeEnding(o, allNew)...)
	wrong = append(wrong, b.touched(got)...)
	if left := b.leftIn(got); len(left) > 0 && !o.mayLeave {
		wrong = append(wrong, fmt.Sprintf("left %v", left))
	}
	return append(wrong, b.judgeRerun(dir)...)
}

// targetsIn returns which targets are neither old nor new, and whether all are new.
func (b *bench) targetsIn(got tree, mayVanish bool) (wrong []string, allNew bool) {
	allNew = true
	for _, name := range b.targets {
		switch is := got.under(name); {
		case maps.Equal(is, b.after.under(name)):
		case maps.Equal(is, b.before.under(name)), mayVanish && len(is) == 0:
			allNew = false
		default:
			allNew = false
			wrong = append(wrong, fmt.Sprintf("%s is neither old nor new: %v", name, difference(b.after.under(name), is)))
		}
	}
	return wrong, allNew
}

// goodCodes are the exit codes of runs with a fault: 0, bad or no input, cannot create, I/O,
// locked, permission, signals. 2 is a crash, 64 and 70 are errors of the user and of the program.
var goodCodes = []int{0, 65, 66, 73, 74, 75, 77, 129, 130, 143}

func (b *bench) judgeEnding(o outcome, allNew bool) []string {
	var wrong []string
	wrongf := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch {
	case o.end.hung:
		wrongf("it hung")
	case o.end.signal != 0: // by the harness
	case o.end.code == 0 && !allNew:
		wrongf("exit 0, but not all outputs are new")
	case o.end.code == 0 && o.failure:
		wrongf("exit 0 in spite of the fault")
	case o.end.code == 2 && o.mayCrash, o.end.code == 141 && o.brokenPipe:
	case o.end.code == 64 && o.mayRefuse && strings.HasPrefix(o.text, "idxport: "):
	case o.end.code != 0 && o.success:
		wrongf("exit %d: %s", o.end.code, brief(o.text))
	case !slices.Contains(goodCodes, o.end.code):
		wrongf("exit %d: %s", o.end.code, brief(o.text))
	case o.end.code != 0 && !strings.HasPrefix(o.text, "idxport: "):
		wrongf("exit %d without a message: %q", o.end.code, o.text)
	}
	return wrong
}

// touched returns which foreign files changed.
func (b *bench) touched(got tree) []string {
	var wrong []string
	for name := range foreign {
		if got[name] != b.before[name] {
			wrong = append(wrong, fmt.Sprintf("foreign file %s: was %s, is %s", name, b.before[name], got[name]))
		}
	}
	return wrong
}

// leftIn lists files that are neither targets nor records and were not there before.
func (b *bench) leftIn(got tree) []string {
	var left []string
	for name := range got {
		top, _, _ := strings.Cut(name, "/")
		if _, known := b.before[name]; !known && !slices.Contains(b.targets, top) && !isRecord(name) {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left
}

// isRecord reports whether name is that of the hidden record of an output.
func isRecord(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".made")
}

// judgeRerun runs again. Without --overwrite, 73 is right if all outputs are new already; such a
// run ends before it sweeps, and the next one with --overwrite does.
func (b *bench) judgeRerun(dir string) []string {
	before, err := readTree(dir)
	if err != nil {
		return []string{err.Error()}
	}
	_, complete := b.targetsIn(before, true)
	end, text, err := runPlain(b.run(dir))
	if err != nil {
		return []string{err.Error()}
	}
	if end.code == 73 && complete && !b.overwrite {
		if end, text, err = runPlain(b.command(dir, b.newRows(), true)); err != nil {
			return []string{err.Error()}
		}
	}
	if end != (ending{}) {
		return []string{fmt.Sprintf("rerun: %v: %s", end, brief(text))}
	}
	got, err := readTree(dir)
	if err != nil {
		return []string{err.Error()}
	}
	if !maps.Equal(got, b.after) {
		return []string{fmt.Sprintf("after the rerun: %v", difference(b.after, got))}
	}
	return nil
}

// difference lists what distinguishes got from want, shortened.
func difference(want, got tree) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if is, ok := got[name]; !ok {
			lines = append(lines, "no "+name)
		} else if is != want[name] {
			lines = append(lines, fmt.Sprintf("%s is %.40s, not %.40s", name, is, want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			lines = append(lines, name+" is new")
		}
	}
	const limit = 5
	if len(lines) > limit {
		lines = append(lines[:limit], fmt.Sprintf("and %d more", len(lines)-limit))
	}
	return lines
}

// brief is the beginning of a standard error: the trace of a crash may have pages.
func brief(text string) string {
	const limit = 300
	text = strings.TrimSpace(text)
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}
