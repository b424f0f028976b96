//go:build linux && amd64

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// otherThings puts what is no file of images in the place of one.
func (h *harness) otherThings() error {
	r := h.row("Inputs that change or are something else", "a folder, a device, a socket, a link to nowhere or in a circle, a file without permission in its place")
	r.addCase()
	b, err := h.bench(h.scenarios()[0], overwriting)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp(h.tmp, "things-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := os.Chmod(home, 0o755); err != nil {
		return err
	}
	path := filepath.Join(home, "t10k-images-idx3-ubyte")
	for _, thing := range []struct {
		name string
		make func() error
	}{
		{"an empty folder", func() error { return os.Mkdir(path, 0o755) }},
		{"/dev/zero", func() error { return os.Symlink("/dev/zero", path) }},
		{"/dev/null", func() error { return os.Symlink("/dev/null", path) }},
		{"/dev/full", func() error { return os.Symlink("/dev/full", path) }},
		{"/proc/self/mem", func() error { return os.Symlink("/proc/self/mem", path) }},
		{"a link to nowhere", func() error { return os.Symlink("nowhere", path) }},
		{"a link to itself", func() error { return os.Symlink(path, path) }},
		{"a socket", func() error { return listen(path) }},
		{"a file nobody may read", func() error { return os.WriteFile(path, []byte("\x00\x00\x08\x01\x00\x00\x00\x00"), 0) }},
		{"an empty file", func() error { return os.WriteFile(path, nil, 0o644) }},
	} {
		if err := thing.make(); err != nil {
			return fmt.Errorf("%s: %w", thing.name, err)
		}
		dir, err := b.box()
		if err != nil {
			return err
		}
		limit := func(cmd *exec.Cmd) {
			cmd.Args = []string{b.binary, "convert", path, "-o", "out.parquet", "--overwrite"}
			if thing.name == "a file nobody may read" && os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
		}
		wrong, _, err := b.try(dir, trial{limit: limit, demand: outcome{failure: true}, codes: []int{64, 65, 66, 74, 77}})
		os.RemoveAll(dir)
		os.RemoveAll(path)
		if err != nil {
			return err
		}
		r.add(thing.name, wrong)
	}
	r.done()
	return h.pipes()
}

func listen(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
}

// pipes are FIFOs in the place of a file: one that is fed, one whose writer ends early, and one
// that nobody writes to.
func (h *harness) pipes() error {
	r := h.row("Inputs that change or are something else", "a FIFO in its place: fed, ended early, and never written to until SIGINT")
	r.addCase()
	sc := h.scenarios()[0]
	b, err := h.bench(sc, overwriting)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(h.data, "t10k-images-idx3-ubyte.gz"))
	if err != nil {
		return err
	}
	for _, feed := range []struct {
		name string
		n    int // bytes; -1: no writer
	}{{"fed", len(content)}, {"ended early", len(content) / 2}, {"closed at once", 0}, {"no writer", -1}} {
		wrong, err := b.fromPipe(content, feed.n)
		if err != nil {
			return err
		}
		r.add(feed.name, wrong)
	}
	r.done()
	return nil
}

func (b *bench) fromPipe(content []byte, n int) ([]string, error) {
	dir, err := b.box()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fifo := filepath.Join(b.tmp, "images.fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		return nil, err
	}
	defer os.Remove(fifo)
	cmd := b.run(dir)
	cmd.Args = []string{b.binary, "convert", fifo, "-o", "out.parquet", "--overwrite", "--quiet"}
	fed := make(chan struct{})
	if n >= 0 {
		go func() {
			defer close(fed)
			feedPipe(fifo, content[:n])
		}()
	} else {
		close(fed)
	}
	end, text, err := signalled(cmd, syscall.SIGINT)
	if err != nil {
		return nil, err
	}
	if n >= 0 { // the program may never have opened it: the feeder must not wait for ever
		if f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			go io.Copy(io.Discard, f)
			select {
			case <-fed:
			case <-time.After(5 * time.Second):
			}
			f.Close()
		}
	}
	if n == len(content) && end == (ending{}) {
		return nil, nil // the output is of other rows than the references
	}
	if n < 0 && end != (ending{code: 130}) {
		return []string{fmt.Sprintf("%v: %s", end, brief(text))}, nil
	}
	return b.judge(dir, outcome{end: end, text: text, failure: n < len(content)}), nil
}

func feedPipe(fifo string, content []byte) {
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(content) // its reader may end early
}
