//go:build linux && amd64

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const limitsTitle = "Limits and full or forbidden places"

// A trial is one run in a prepared folder or under a limit.
type trial struct {
	set     func(dir string) error // before the run
	limit   func(cmd *exec.Cmd)    // changes the command
	relieve func(dir string) error // before the result is judged and the run repeated
	demand  outcome
	codes   []int // allowed if it fails; nil: all good ones
}

// try is one trial in a folder of its own.
func (b *bench) try(t trial) ([]string, ending, error) {
	dir, err := b.box()
	if err != nil {
		return nil, ending{}, err
	}
	defer os.RemoveAll(dir)
	return b.tryIn(dir, t)
}

// tryIn is one trial in a folder that has the files from before the run.
func (b *bench) tryIn(dir string, t trial) ([]string, ending, error) {
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

// underShell runs the command after a line of shell.
func underShell(line string) func(cmd *exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", line + `; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
	}
}

// limits are set by a shell, and rise until a run succeeds.
func (h *harness) limits() error {
	benches, err := h.benches()
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name, line string
		from       int
		trial      trial
	}{
		{"RLIMIT_FSIZE (ulimit -f), rising", "ulimit -f %d", 0, trial{codes: []int{74}}},
		{"RLIMIT_NOFILE (ulimit -n), rising", "ulimit -n %d", 5, trial{demand: outcome{mayLeave: true, mayCrash: true}, codes: []int{2, 74}}},
	} {
		r := h.row(limitsTitle, s.name)
		err := inParallel(h, benches, func(b *bench) error {
			return b.rising(r, s.from, func(n int) int { return b.more(n, 1) }, func(n int) trial {
				t := s.trial
				t.limit = underShell(fmt.Sprintf(s.line, n))
				return t
			})
		})
		if err != nil {
			return err
		}
	}
	if err := h.mounts(benches); err != nil {
		return err
	}
	if err := h.forbidden(benches); err != nil {
		return err
	}
	return h.streams()
}

// rising tries with larger and larger limits until a run succeeds.
func (b *bench) rising(r *row, n int, next func(int) int, make func(n int) trial) error {
	r.addCase()
	for range 4096 {
		wrong, end, err := b.try(make(n))
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("%v: %d", b, n), wrong)
		if end == (ending{}) {
			return nil
		}
		n = next(n)
	}
	return fmt.Errorf("%v: never enough", b)
}

// more returns the limit after n: by a twelfth more if a scratch file would need thousands of
// steps.
func (b *bench) more(n, step int) int {
	if b.scratch {
		n += n / 12 / step * step
	}
	return n + step
}

// mount mounts a file system at a new folder; unmount removes both.
func (h *harness) mount(kind, what, options string) (string, error) {
	dir, err := os.MkdirTemp(h.tmp, "mount-")
	if err != nil {
		return "", err
	}
	if err := command("mount", "-t", kind, "-o", options, what, dir); err != nil {
		os.Remove(dir)
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// remount changes the options of a mounted file system.
func remount(dir, options string) error { return onceIdle("mount", "-o", "remount,"+options, dir) }

func unmount(dir string) error {
	if err := onceIdle("umount", dir); err != nil {
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
		return err
	}
	return os.Remove(dir)
}

// unmountAll is for a harness that is interrupted.
func (h *harness) unmountAll() {
	dirs, _ := filepath.Glob(filepath.Join(h.tmp, "mount-*"))
	for _, dir := range dirs {
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	}
}

// canMount returns why the file system cannot be mounted here.
func (h *harness) canMount(kind, what, options string) error {
	dir, err := h.mount(kind, what, options)
	if err != nil {
		return err
	}
	return unmount(dir)
}

// mounts are file systems that are full or read-only.
func (h *harness) mounts(benches []*bench) error {
	why := h.canMount("tmpfs", "none", "size=1m")
	for _, f := range []struct {
		name, options, relief string
		step                  int
	}{
		{"a small tmpfs, a page larger each time", "size=%dk", "size=64m", 4},
		{"few inodes, one more each time", "nr_inodes=%d", "nr_inodes=10000", 1},
	} {
		r := h.row(limitsTitle, f.name)
		if why != nil {
			r.skip("%v", why)
			continue
		}
		err := inParallel(h, benches, func(b *bench) error {
			r.addCase()
			for n := f.step; ; n = b.more(n, f.step) {
				options := fmt.Sprintf(f.options, n)
				fits, wrong, end, err := b.tryMounted(options, f.relief)
				if err != nil {
					return err
				}
				if !fits {
					continue
				}
				r.add(fmt.Sprintf("%v: %s", b, options), wrong)
				if end == (ending{}) {
					return nil
				}
			}
		})
		if err != nil {
			return err
		}
	}
	readOnly := h.row(limitsTitle, "a read-only file system")
	lower := h.row(limitsTitle, "old outputs in the lower layer of overlayfs: folders there cannot be renamed")
	if why != nil {
		readOnly.skip("%v", why)
		lower.skip("%v", why)
		return nil
	}
	if err := inParallel(h, benches, func(b *bench) error { return b.readOnly(readOnly) }); err != nil {
		return err
	}
	return inParallel(h, benches, func(b *bench) error {
		if !b.overwrite {
			return nil
		}
		return b.lowerLayer(lower)
	})
}

// lowerLayer is one trial on overlayfs. An old folder is refused, and nothing beside it is
// published; once it is deleted, the run succeeds. An old file is replaced.
func (b *bench) lowerLayer(r *row) error {
	upper, err := os.MkdirTemp(b.tmp, "upper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(upper)
	for _, name := range []string{"files", "work"} {
		if err := os.Mkdir(filepath.Join(upper, name), 0o755); err != nil {
			return err
		}
	}
	dir, err := b.mount("overlay", "overlay",
		fmt.Sprintf("redirect_dir=off,lowerdir=%s,upperdir=%s/files,workdir=%[2]s/work", b.base, upper))
	if err != nil {
		r.skip("%v", err)
		return nil
	}
	defer unmount(dir)
	r.addCase()
	t := trial{demand: outcome{success: true}}
	if b.scenario.folder() || len(b.targets) > 1 {
		t = trial{demand: outcome{failure: true, mayVanish: true}, codes: []int{73}, relieve: func(dir string) error {
			for _, name := range b.targets {
				got, err := readTree(dir)
				if err != nil || !maps.Equal(got.under(name), b.before.under(name)) {
					return fmt.Errorf("%s: %s changed: %v", b, name, err)
				}
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	wrong, _, err := b.tryIn(dir, t)
	r.add(b.String(), wrong)
	return err
}

// tryMounted is one trial on a tmpfs with these options, which are relieved before the rerun. fits
// is false if the files from before the run do not fit.
func (b *bench) tryMounted(options, relief string) (fits bool, wrong []string, end ending, err error) {
	dir, err := b.mount("tmpfs", "none", options)
	if err != nil {
		return false, nil, end, err
	}
	defer unmount(dir)
	if b.fill(dir) != nil {
		return false, nil, end, nil
	}
	wrong, end, err = b.tryIn(dir, trial{
		relieve: func(dir string) error { return remount(dir, relief) },
		codes:   []int{74},
	})
	return true, wrong, end, err
}

// readOnly is one trial on a file system that is mounted read-only.
func (b *bench) readOnly(r *row) error {
	r.addCase()
	dir, err := b.mount("tmpfs", "none", "size=64m")
	if err != nil {
		return err
	}
	defer unmount(dir)
	if err := b.fill(dir); err != nil {
		return err
	}
	wrong, _, err := b.tryIn(dir, trial{
		set:     func(dir string) error { return remount(dir, "ro") },
		relieve: func(dir string) error { return remount(dir, "rw") },
		demand:  outcome{failure: true},
		codes:   []int{77},
	})
	r.add(b.String(), wrong)
	return err
}

// asNobody runs the command as another user.
func asNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// forbidden tries a folder that another user must not write to. (EACCES of each call is injected by
// failures.)
func (h *harness) forbidden(benches []*bench) error {
	r := h.row(limitsTitle, "a folder without permission to write, as another user")
	if os.Geteuid() != 0 {
		r.skip("needs root")
		return nil
	}
	return inParallel(h, benches, func(b *bench) error {
		r.addCase()
		wrong, _, err := b.try(trial{limit: asNobody, demand: outcome{failure: true}, codes: []int{77}})
		r.add(b.String(), wrong)
		return err
	})
}

// onceIdle runs a tool of the system until it succeeds, for ten seconds. A process that another
// goroutine starts holds, between its fork and its exec, the files that this program had open:
// until then their file system is busy.
func onceIdle(name string, args ...string) (err error) {
	for range 100 {
		if err = command(name, args...); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// command runs a tool of the system.
func command(name string, args ...string) error {
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(text)))
	}
	return nil
}

// streams are standard streams and devices that cannot be written to. The target of the same run
// must not be published.
func (h *harness) streams() error {
	b, err := h.bench(h.scenarios()[0], fresh)
	if err != nil {
		return err
	}
	r := h.row(limitsTitle, "/dev/full, closed and broken standard streams, beside a file")
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
		wrong, _, err := b.try(trial{demand: outcome{success: s.ok, failure: !s.ok}, codes: s.codes, limit: func(cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args, s.more...)
			underShell(s.shell)(cmd)
		}})
		if err != nil {
			return err
		}
		r.add(s.shell+" "+strings.Join(s.more, " "), wrong)
	}
	return h.brokenPipe(b)
}

// brokenPipe is a reader of standard output that ends at once.
func (h *harness) brokenPipe(b *bench) error {
	r := h.row(limitsTitle, "a pipe without a reader, beside a file")
	r.addCase()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer write.Close()
	read.Close()
	wrong, end, err := b.try(trial{demand: outcome{failure: true, brokenPipe: true}, limit: func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "-o", "csv=-")
		cmd.Stdout = write
	}})
	if end != (ending{code: 141}) {
		wrong = append(wrong, fmt.Sprintf("%v, not exit 141", end))
	}
	r.add("-o csv=- | true", wrong)
	return err
}

// memoryRows are so many that a run needs more memory than Go's runtime alone.
const memoryRows = 30000

// memory runs with too little memory, more each time.
func (h *harness) memory() error {
	inputs, err := h.bigInput(memoryRows)
	if err != nil {
		return err
	}
	var benches []*bench
	for _, sc := range []scenario{
		{name: "big parquet", flags: []string{"-o", "out.parquet"}, targets: []string{"out.parquet"}},
		{name: "big csv", flags: []string{"-o", "out.csv"}, targets: []string{"out.csv"}},
		{name: "big parts", flags: []string{"-o", "parts.parquet", "--rows-per-file", "2000"}, targets: []string{"parts.parquet"}},
	} {
		sc.inputs, sc.rows = inputs, "0:"
		b, err := h.bench(sc, overwriting)
		if err != nil {
			return err
		}
		benches = append(benches, b)
		if h.quick {
			break
		}
	}
	next := func(kilobytes int) int { return kilobytes + kilobytes/12 }
	crash := outcome{mayLeave: true, mayCrash: true}
	r := h.row("Too little memory", "address space (ulimit -v), growing by a 12th")
	return inParallel(h, benches, func(b *bench) error {
		return b.rising(r, 64<<10, next, func(kilobytes int) trial {
			return trial{limit: underShell("ulimit -v " + strconv.Itoa(kilobytes)), demand: crash}
		})
	})
}
