//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// mount mounts a file system at a new folder; unmount takes both away.
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
	if err := command("umount", dir); err != nil {
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

// canMount says why nothing can be mounted here.
func (h *harness) canMount() error {
	dir, err := h.mount("tmpfs", "none", "size=1m")
	if err != nil {
		return err
	}
	return unmount(dir)
}

// mounts are file systems that are full or read-only.
func (h *harness) mounts(benches []*bench) error {
	const section = "Limits and full or forbidden places"
	full := []struct {
		name, options, relief string
	}{
		{"a small tmpfs, a page larger each time", "size=%dk", "size=64m"},
		{"few inodes, one more each time", "nr_inodes=%d", "nr_inodes=10000"},
	}
	why := h.canMount()
	for i, f := range full {
		r := h.row(section, f.name)
		if why != nil {
			r.skip("%v", why)
			continue
		}
		err := inParallel(h, benches, func(b *bench) error {
			r.addCase()
			for n := 1; ; n++ {
				options := fmt.Sprintf(f.options, n*[]int{4, 1}[i])
				fits, wrong, end, err := b.tryMounted(options, f.relief)
				if err != nil {
					return err
				}
				if !fits {
					continue // what must stand there before does not fit
				}
				r.add(fmt.Sprintf("%s, %s: %s", b.scenario.name, b.state.name, options), wrong)
				if end == (ending{}) {
					return nil
				}
			}
		})
		if err != nil {
			return err
		}
		r.done()
	}
	return h.readOnly(benches, h.row(section, "a read-only file system"), why)
}

// readOnly tries a file system that is mounted read-only, unless nothing can be mounted, for the
// reason why.
func (h *harness) readOnly(benches []*bench, r *row, why error) error {
	if why != nil {
		r.skip("%v", why)
		return nil
	}
	err := inParallel(h, benches, func(b *bench) error {
		r.addCase()
		dir, err := h.mount("tmpfs", "none", "size=64m")
		if err != nil {
			return err
		}
		defer unmount(dir)
		if err := b.fill(dir); err != nil {
			return err
		}
		wrong, _, err := b.try(dir, trial{
			set:     func(dir string) error { return command("mount", "-o", "remount,ro", dir) },
			relieve: func(dir string) error { return command("mount", "-o", "remount,rw", dir) },
			demand:  outcome{failure: true},
			codes:   []int{77},
		})
		r.add(b.scenario.name+", "+b.state.name, wrong)
		return err
	})
	r.done()
	return err
}

// tryMounted is one trial on a tmpfs with these options, which are relieved before the rerun.
func (b *bench) tryMounted(options, relief string) (fits bool, wrong []string, end ending, err error) {
	dir, err := b.mount("tmpfs", "none", options)
	if err != nil {
		return false, nil, end, err
	}
	defer unmount(dir)
	if b.fill(dir) != nil {
		return false, nil, end, nil
	}
	wrong, end, err = b.try(dir, trial{
		relieve: func(dir string) error { return command("mount", "-o", "remount,"+relief, dir) },
		codes:   []int{74},
	})
	return true, wrong, end, err
}
