//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// powerCuts makes outputs on an ext4 file system in an image, copies the image before each call and
// after the run, and mounts the copies as a machine would after a power cut.
//
// The last row shows that the harness would notice: if fsync and syncfs do nothing, there must be
// wrong outcomes.
func (h *harness) powerCuts(title string) error {
	variants := []variant{
		{name: "ext4, data=ordered", options: "loop"},
		{name: "the same, the journal committed before each cut", options: "loop", journal: true, quick: true},
		{name: "ext4, data=writeback, noauto_da_alloc, the journal committed", options: writeback, journal: true},
		{name: "self-check: fsync and syncfs do nothing", options: writeback, journal: true, unsynced: true,
			quick: true},
	}
	benches, err := h.benches()
	if err != nil {
		return err
	}
	image := filepath.Join(h.tmp, "probe.img")
	defer os.Remove(image)
	why := makeImage(image, "8M")
	if why == nil {
		why = h.canMount("ext4", image, "loop")
	}
	for _, v := range variants {
		if h.quick && !v.quick {
			continue
		}
		r := h.row(title, v.name)
		if why != nil {
			r.skip("%v", why)
			continue
		}
		cases := benches
		if v.unsynced {
			cases = benches[:2]
		}
		if err := inParallel(h, cases, func(b *bench) error { return b.cutPower(r, v) }); err != nil {
			return err
		}
		if v.unsynced {
			r.expectWrong()
		}
	}
	return nil
}

// writeback are the options of ext4 with which it loses most.
const writeback = "loop,data=writeback,noauto_da_alloc"

// A variant is a file system and how its power is cut.
type variant struct {
	name, options string
	journal       bool // it is committed before each copy, so that names get ahead of contents
	unsynced      bool // fsync and syncfs do nothing
	quick         bool
}

func makeImage(path, size string) error {
	if err := command("truncate", "-s", size, path); err != nil {
		return err
	}
	const now = "lazy_itable_init=0,lazy_journal_init=0"
	return command("mkfs.ext4", "-q", "-E", now, "-J", "size=1", "-b", "1024", path)
}

// cutPower is one run on an image, and every cut of it.
func (b *bench) cutPower(r *row, v variant) error {
	r.addCase()
	work, err := os.MkdirTemp(b.tmp, "power-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	image := filepath.Join(work, "image")
	size := "8M"
	if b.scratch {
		size = "64M"
	}
	if err := makeImage(image, size); err != nil {
		return err
	}
	var cuts []cut
	end, err := b.runOnImage(image, v, func(where string, dir string) error {
		if v.journal && dir != "" {
			if err := commitJournal(dir); err != nil {
				return err
			}
		}
		to := fmt.Sprintf("%s.%d", image, len(cuts))
		cuts = append(cuts, cut{image: to, where: where})
		return copyStill(image, to)
	})
	if err != nil {
		return err
	}
	if end != (ending{}) {
		return fmt.Errorf("%v: without faults: %v", b, end)
	}
	for i, c := range cuts {
		wrong, err := b.judgeCut(c, i == len(cuts)-1)
		if err != nil {
			return err
		}
		r.add(b.String()+": "+c.where, wrong)
	}
	return nil
}

// A cut is a copy of the image.
type cut struct{ image, where string }

// runOnImage runs on the image, and calls copied before each call with an effect and at the end.
func (b *bench) runOnImage(image string, v variant, copied func(where, dir string) error) (ending, error) {
	mounted, err := b.mount("ext4", image, v.options)
	if err != nil {
		return ending{}, err
	}
	defer unmount(mounted)
	dir := filepath.Join(mounted, "box")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return ending{}, err
	}
	if err := b.fill(dir); err != nil {
		return ending{}, err
	}
	if err := command("sync", "-f", dir); err != nil {
		return ending{}, err
	}
	var failed error
	end, _, err := runTraced(b.run(dir), []string{dir}, func(s step) verdict {
		if s.effect() && failed == nil {
			failed = copied(s.String(), mounted)
		}
		return verdict{nop: v.unsynced && s.kind == syncs}
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = copied("after the run", "")
	}
	return end, err
}

// commitJournal makes all names durable, but no content, as an fsync of another file does.
func commitJournal(dir string) error {
	path := filepath.Join(dir, "other")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write([]byte{'.'}); err != nil {
		return err
	}
	return f.Sync()
}

// copyStill copies the file at a moment when it is not written to: other threads of the program
// continue.
func copyStill(from, to string) error {
	const tries = 50
	var last []byte
	for range tries {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if bytes.Equal(content, last) {
			return writeSparse(to, content)
		}
		last = content
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("%s is written to all the time", from)
}

// writeSparse leaves out blocks of zeros: there are dozens of copies.
func writeSparse(path string, content []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const block = 4096
	zeros := make([]byte, block)
	for at := 0; at < len(content); at += block {
		part := content[at:min(at+block, len(content))]
		if bytes.Equal(part, zeros[:len(part)]) {
			continue
		}
		if _, err := f.WriteAt(part, int64(at)); err != nil {
			return err
		}
	}
	return f.Truncate(int64(len(content)))
}

// judgeCut mounts the image as a machine does after the power cut. After a run that ended with 0
// everything must be new.
func (b *bench) judgeCut(c cut, succeeded bool) ([]string, error) {
	defer os.Remove(c.image)
	mounted, err := b.mount("ext4", c.image, "loop")
	if err != nil {
		return []string{err.Error()}, nil
	}
	defer unmount(mounted)
	o := outcome{demand: mayLeave}
	if succeeded {
		o.success = true
	} else {
		o.end.signal = syscall.SIGKILL
	}
	return b.judge(filepath.Join(mounted, "box"), o), nil
}
