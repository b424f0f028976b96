//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// limits let files grow a little further, run by run, until a run succeeds: by the limit that a
// shell sets, and on a real file system.
func (h *harness) limits(title string) error {
	benches, err := h.benches()
	if err != nil {
		return err
	}
	r := h.row(title, "RLIMIT_FSIZE (ulimit -f), rising")
	if err := inParallel(h, benches, func(b *bench) error { return b.rising(r, 0, 1, b.withLimit) }); err != nil {
		return err
	}
	r = h.row(title, "a small tmpfs, a page larger each time")
	if why := h.canMount("tmpfs", "none", "size=1m"); why != nil {
		r.skip("%v", why)
		return nil
	}
	return inParallel(h, benches, func(b *bench) error { return b.rising(r, 4, 4, b.onSmallDisk) })
}

// rising tries with larger and larger limits until a run succeeds.
func (b *bench) rising(r *row, n, step int, try func(n int) (wrong []string, end ending, err error)) error {
	r.addCase()
	for range 4096 {
		wrong, end, err := try(n)
		if err != nil {
			return err
		}
		if end != tooSmall {
			r.add(fmt.Sprintf("%v: %d", b, n), wrong)
		}
		if end == (ending{}) {
			return nil
		}
		if b.scratch { // its file would need thousands of steps
			n += n / 12 / step * step
		}
		n += step
	}
	return fmt.Errorf("%v: never enough", b)
}

// tooSmall is the ending of a run that was not begun, as the files from before it do not fit.
var tooSmall = ending{code: -1}

// isFull is what is demanded if a file cannot grow.
var isFull = demand{codes: []int{74}}

// withLimit runs with a limit for the size of files, in blocks.
func (b *bench) withLimit(n int) (wrong []string, end ending, err error) {
	dir, err := b.box()
	if err != nil {
		return nil, end, err
	}
	defer os.RemoveAll(dir)
	cmd := b.run(dir)
	cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, n), "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	end, text, err := runPlain(cmd)
	if err != nil {
		return nil, end, err
	}
	return b.judge(dir, outcome{end, text, isFull}), end, nil
}

// onSmallDisk runs on a tmpfs of n KiB, which is enlarged before the run is repeated.
func (b *bench) onSmallDisk(n int) (wrong []string, end ending, err error) {
	dir, err := b.mount("tmpfs", "none", fmt.Sprintf("size=%dk", n))
	if err != nil {
		return nil, end, err
	}
	defer unmount(dir)
	if b.fill(dir) != nil {
		return nil, tooSmall, nil
	}
	end, text, err := runPlain(b.run(dir))
	if err == nil {
		err = onceIdle("mount", "-o", "remount,size=64m", dir)
	}
	if err != nil {
		return nil, end, err
	}
	return b.judge(dir, outcome{end, text, isFull}), end, nil
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
