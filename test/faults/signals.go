//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// signals sends signals at every call that concerns outputs or inputs.
func (h *harness) signals() error {
	benches, err := h.benches()
	if err != nil {
		return err
	}
	every := 2 // so many calls apart
	if h.quick {
		every = 17
	}
	for _, sent := range []struct {
		name   string
		signal syscall.Signal
		twice  bool
	}{
		{"SIGINT", syscall.SIGINT, false},
		{"SIGTERM", syscall.SIGTERM, false},
		{"SIGHUP", syscall.SIGHUP, false},
		{"SIGINT twice", syscall.SIGINT, true},
		{"SIGTERM twice", syscall.SIGTERM, true},
	} {
		r := h.row("Signals", sent.name+", before a call")
		err := inParallel(h, benches, func(b *bench) error {
			r.addCase()
			for at := 1; ; at += every {
				hit, what, wrong, err := b.interrupt(sent.signal, at, sent.twice)
				if err != nil || !hit {
					return err
				}
				r.add(fmt.Sprintf("%s, %s: %s", b.scenario.name, b.state.name, what), wrong)
			}
		})
		if err != nil {
			return err
		}
		r.done()
	}
	return h.stuck()
}

// interrupt sends the signal before the at-th call, and again before the next.
func (b *bench) interrupt(sig syscall.Signal, at int, twice bool) (hit bool, what string, wrong []string, err error) {
	dir, err := b.box()
	if err != nil {
		return false, "", nil, err
	}
	defer os.RemoveAll(dir)
	var first step
	end, text, err := runTraced(b.run(dir), []string{dir, b.data}, func(s step) verdict {
		if s.n == at {
			first = s
		}
		if s.n == at || twice && s.n == at+1 {
			return verdict{signal: sig}
		}
		return verdict{}
	})
	if err != nil || first.n == 0 {
		return false, "", nil, err
	}
	o := outcome{end: end, text: text, mayLeave: twice && end.signal == sig}
	wrong = b.judge(dir, o)
	if end != (ending{}) && end != (ending{code: 128 + int(sig)}) && end != (ending{signal: sig}) {
		wrong = append(wrong, fmt.Sprintf("%v, not %d: %s", end, 128+int(sig), brief(text)))
	}
	return true, first.String(), wrong, nil
}

// stuck interrupts runs that wait for another program.
func (h *harness) stuck() error {
	b, err := h.bench(h.scenarios()[0], overwriting)
	if err != nil {
		return err
	}
	r := h.row("Signals", "SIGINT and SIGTERM while waiting for a reader or a writer")
	r.addCase()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, waits := range []string{"-o csv=fifo", "< pipe"} {
			wrong, err := b.interruptStuck(waits, sig)
			if err != nil {
				return err
			}
			r.add(waits+" "+sig.String(), wrong)
		}
	}
	r.done()
	return nil
}

func (b *bench) interruptStuck(waits string, sig syscall.Signal) ([]string, error) {
	dir, err := b.box()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := b.run(dir)
	read, write, err := os.Pipe() // nobody writes
	if err != nil {
		return nil, err
	}
	defer read.Close()
	defer write.Close()
	if waits == "< pipe" {
		cmd.Args = []string{b.binary, "convert", "-", "-o", b.targets[0], "--overwrite"}
		cmd.Stdin = read
	} else {
		fifo := filepath.Join(b.tmp, "fifo")
		if err := syscall.Mkfifo(fifo, 0o666); err != nil {
			return nil, err
		}
		defer os.Remove(fifo)
		cmd.Args = append(cmd.Args, "-o", "csv="+fifo)
	}
	end, text, err := signalled(cmd, sig)
	if err != nil {
		return nil, err
	}
	wrong := b.judge(dir, outcome{end: end, text: text, failure: true})
	if end != (ending{code: 128 + int(sig)}) {
		wrong = append(wrong, fmt.Sprintf("%v: %s", end, brief(text)))
	}
	return wrong, nil
}

// signalled runs cmd and sends the signal once it surely waits.
func signalled(cmd *exec.Cmd, sig syscall.Signal) (ending, string, error) {
	timer := time.AfterFunc(time.Second, func() { _ = cmd.Process.Signal(sig) })
	defer timer.Stop()
	return runPlain(cmd)
}
