//go:build linux && amd64

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
)

// An outcome is how a run with a fault ended, and what is demanded of it.
type outcome struct {
	end  ending
	text string // on standard error
	demand
}

// A demand is what is right after a run with a fault. The zero value allows success and any of
// goodCodes.
type demand struct {
	success   bool  // it must have succeeded: programs have to cope with the fault
	failure   bool  // it must have failed
	mayLeave  bool  // hidden files may be left: it was killed, or could not delete
	mayVanish bool  // a target may be missing, as between two renames; the rerun must repair it
	codes     []int // the exit codes of failures; nil: goodCodes
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
	return append(wrong, b.judgeRerun(dir, got)...)
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
			wrong = append(wrong, fmt.Sprintf("%s is neither old nor new: %v", name,
				difference(b.after.under(name), is)))
		}
	}
	return wrong, allNew
}

// goodCodes are the exit codes of failures with a fault: bad or no input, cannot create, I/O,
// locked, permission, signals. 2 is a crash, 64 and 70 are errors of the user and of the program.
var goodCodes = []int{65, 66, 73, 74, 75, 77, 129, 130, 143}

// isGood reports whether a run with a fault may end this way.
func (e ending) isGood() bool {
	return e == ending{} || e.signal == 0 && !e.hung && slices.Contains(goodCodes, e.code)
}

func (b *bench) judgeEnding(o outcome, allNew bool) []string {
	var wrong []string
	wrongf := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch {
	case o.end.hung:
		wrongf("it hung")
	case o.end.signal == syscall.SIGKILL, slices.Contains(o.codes, 128+int(o.end.signal)): // by the harness
	case o.end.signal != 0:
		wrongf("%v", o.end)
	case o.end.code == 0 && !allNew:
		wrongf("exit 0, but not all outputs are new")
	case o.end.code == 0 && o.failure:
		wrongf("exit 0 in spite of the fault")
	case o.end.code == 0:
	case o.success, !o.end.isGood(), o.codes != nil && !slices.Contains(o.codes, o.end.code):
		wrongf("exit %d: %s", o.end.code, brief(o.text))
	case !strings.HasPrefix(o.text, "idxport: "):
		wrongf("exit %d without a message: %q", o.end.code, o.text)
	}
	return wrong
}

// touched returns which foreign files changed.
func (b *bench) touched(got tree) []string {
	var wrong []string
	for name, was := range b.before {
		if got[name] != was && !b.owns(name) {
			wrong = append(wrong, fmt.Sprintf("foreign file %s: was %s, is %s", name, was, got[name]))
		}
	}
	return wrong
}

// leftIn lists files that are neither targets nor records and were not there before.
func (b *bench) leftIn(got tree) []string {
	var left []string
	for name := range got {
		if _, known := b.before[name]; !known && !b.owns(name) {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left
}

// owns reports whether name is that of a target, of what is in it, or of its hidden record.
func (b *bench) owns(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(b.targets, func(target string) bool {
		return top == target || strings.HasPrefix(top, "."+target+".idxport-") && strings.HasSuffix(top, ".made")
	})
}

// judgeRerun runs again in dir, which has the files before. Without a flag, 73 is right if all
// outputs are new already; such a run ends before it sweeps, and the next with --overwrite does.
func (b *bench) judgeRerun(dir string, before tree) []string {
	_, complete := b.targetsIn(before, true)
	end, text, err := runPlain(b.run(dir))
	if err != nil {
		return []string{err.Error()}
	}
	if end.code == 73 && complete && b.flag == "" {
		end, text, err = runPlain(b.command(dir, b.newRows(), overwriting.flag))
	}
	if err != nil || end != (ending{}) {
		return []string{fmt.Sprintf("rerun: %v, %v: %s", err, end, brief(text))}
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
