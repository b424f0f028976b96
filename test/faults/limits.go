//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A trial is one run in a place or under a limit that is prepared and taken away by commands.
type trial struct {
	set     func(dir string) error // before the run
	limit   func(cmd *exec.Cmd)    // changes the command
	relieve func(dir string) error // before what is left is judged and the run repeated
	demand  outcome                // what may be and what must be
	codes   []int                  // if it fails
}

// try is one trial in a folder that holds what stands there before a run.
func (b *bench) try(dir string, t trial) ([]string, ending, error) {
	if t.set != nil {
		if err := t.set(dir); err != nil {
			return nil, ending{}, err
		}
	}
	cmd := b.run(dir)
	if t.limit != nil {
		t.limit(cmd)
	}
	end, text, err := runPlain(cmd)
	if err != nil {
		return nil, end, err
	}
	if t.relieve != nil {
		if err := t.relieve(dir); err != nil {
			return nil, end, err
		}
	}
	o := t.demand
	o.end, o.text = end, text
	wrong := b.judge(dir, o)
	if t.codes != nil && end.code != 0 && !slices.Contains(t.codes, end.code) {
		wrong = append(wrong, fmt.Sprintf("exit %d, not %v: %s", end.code, t.codes, brief(text)))
	}
	return wrong, end, nil
}

// underShell runs the command after a line of shell, which sees n as $N.
func underShell(cmd *exec.Cmd, line string, n int) {
	cmd.Args = append([]string{"sh", "-c", line + `; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Env = append(cmd.Env, "N="+strconv.Itoa(n))
	cmd.Path = "/bin/sh"
}

// limits are set by a shell, and rise until a run succeeds.
func (h *harness) limits() error {
	benches, err := h.benches()
	if err != nil {
		return err
	}
	steps := []struct {
		name, line   string
		from, stride int
		demand       outcome
		codes        []int
	}{
		{"RLIMIT_FSIZE (ulimit -f), rising", "ulimit -f $N", 0, 1, outcome{}, []int{74}},
		{"RLIMIT_NOFILE (ulimit -n), rising", "ulimit -n $N", 5, 1, outcome{mayLeave: true, mayCrash: true}, []int{2, 74}},
	}
	for _, s := range steps {
		r := h.row("Limits and full or forbidden places", s.name)
		err := inParallel(h, benches, func(b *bench) error {
			return b.rising(r, s.from, s.stride, func(n int) trial {
				return trial{limit: func(cmd *exec.Cmd) { underShell(cmd, s.line, n) }, demand: s.demand, codes: s.codes}
			})
		})
		if err != nil {
			return err
		}
		r.done()
	}
	if err := h.mounts(benches); err != nil {
		return err
	}
	if err := h.forbidden(benches); err != nil {
		return err
	}
	return h.streams()
}

// rising tries in a folder each, with more and more, until a run succeeds.
func (b *bench) rising(r *row, n, stride int, make func(n int) trial) error {
	r.addCase()
	for ; n < 4096; n += stride {
		dir, err := b.box()
		if err != nil {
			return err
		}
		wrong, end, err := b.try(dir, make(n))
		os.RemoveAll(dir)
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("%s, %s: %d", b.scenario.name, b.state.name, n), wrong)
		if end == (ending{}) {
			return nil
		}
	}
	return fmt.Errorf("%s, %s: never enough", b.scenario.name, b.state.name)
}

// forbidden tries folders and targets that must not be written.
func (h *harness) forbidden(benches []*bench) error {
	const section = "Limits and full or forbidden places"
	nobody := func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	type place struct {
		name  string
		why   string // not here
		old   bool   // only where there is something to replace
		trial func(*bench) trial
	}
	root, attributes := "", ""
	if os.Geteuid() != 0 {
		root = "needs root"
	}
	if err := h.canSetAttributes(); err != nil {
		attributes = "chattr: " + err.Error()
	}
	places := []place{
		{"a folder without permission to write, as another user", root, false, func(*bench) trial {
			return trial{limit: nobody, demand: outcome{failure: true}, codes: []int{77}}
		}},
		{"an immutable folder (chattr +i)", attributes, false, func(*bench) trial {
			return trial{set: chattr("+i", "."), relieve: chattr("-i", "."), demand: outcome{failure: true}, codes: []int{77}}
		}},
		{"a folder in which names can only be added (chattr +a)", attributes, false, func(*bench) trial {
			return trial{set: chattr("+a", "."), relieve: chattr("-a", "."), demand: outcome{mayLeave: true}, codes: []int{77}}
		}},
		{"an immutable target", attributes, true, func(b *bench) trial {
			return trial{set: chattr("+i", b.targets[0]), relieve: chattr("-i", b.targets[0]), demand: outcome{failure: true}, codes: []int{77}}
		}},
	}
	for _, p := range places {
		r := h.row(section, p.name)
		if p.why != "" {
			r.skip("%s", p.why)
			continue
		}
		err := inParallel(h, benches, func(b *bench) error {
			if p.old && !b.overwrite {
				return nil
			}
			dir, err := b.box()
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			r.addCase()
			wrong, _, err := b.try(dir, p.trial(b))
			r.add(b.scenario.name+", "+b.state.name, wrong)
			return err
		})
		if err != nil {
			return err
		}
		r.done()
	}
	return nil
}

// chattr sets or clears an attribute of the file name in a folder.
func chattr(flag, name string) func(dir string) error {
	return func(dir string) error { return command("chattr", flag, filepath.Join(dir, name)) }
}

func (h *harness) canSetAttributes() error {
	path := filepath.Join(h.tmp, "attributes")
	if err := writeFile(path, ""); err != nil {
		return err
	}
	if err := command("chattr", "+i", path); err != nil {
		return err
	}
	return command("chattr", "-i", path)
}

// command runs a tool of the system.
func command(name string, args ...string) error {
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(text)))
	}
	return nil
}

// streams are standard streams and devices that take nothing. The target beside them must not
// appear.
func (h *harness) streams() error {
	b, err := h.bench(h.scenarios()[0], fresh)
	if err != nil {
		return err
	}
	r := h.row("Limits and full or forbidden places", "/dev/full, closed and broken standard streams, beside a file")
	r.addCase()
	for _, s := range []struct {
		shell string
		more  []string
		codes []int
		ok    bool
	}{
		{"exec >/dev/full", []string{"-o", "csv=-"}, []int{74}, false},
		{"exec >&-", []string{"-o", "csv=-"}, []int{74}, false},
		{"true", []string{"-o", "csv=/dev/full"}, []int{74}, false},
		{"true", []string{"-o", "arrow=/dev/full"}, []int{74}, false},
		{"exec </dev/null >&- 2>&-", nil, nil, true},
		{"exec <&- >&- 2>&-", nil, nil, true},
		{"exec 2>/dev/full", nil, nil, true},
	} {
		dir, err := b.box()
		if err != nil {
			return err
		}
		limit := func(cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, s.more...)
			underShell(cmd, s.shell, 0)
		}
		wrong, _, err := b.try(dir, trial{limit: limit, demand: outcome{success: s.ok, failure: !s.ok}, codes: s.codes})
		os.RemoveAll(dir)
		if err != nil {
			return err
		}
		r.add(s.shell+" "+strings.Join(s.more, " "), wrong)
	}
	r.done()
	return h.brokenPipe(b)
}

// brokenPipe is a reader of standard output that ends at once.
func (h *harness) brokenPipe(b *bench) error {
	r := h.row("Limits and full or forbidden places", "a pipe without a reader, beside a file")
	r.addCase()
	dir, err := b.box()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer write.Close()
	read.Close()
	limit := func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "-o", "csv=-")
		cmd.Stdout = write
	}
	wrong, end, err := b.try(dir, trial{limit: limit, demand: outcome{failure: true, brokenPipe: true}})
	if end != (ending{code: 141}) {
		wrong = append(wrong, fmt.Sprintf("%v, not exit 141", end))
	}
	r.add("-o csv=- | true", wrong)
	r.done()
	return err
}
