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

// signals sends signals at calls that concern outputs or inputs.
func (h *harness) signals() error {
	benches, err := h.benches()
	if err != nil {
		return err
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
		if err := inParallel(h, benches, func(b *bench) error { return b.interrupt(r, sent.signal, sent.twice) }); err != nil {
			return err
		}
	}
	return h.stuck()
}

// interrupt sends the signal before every second call, and again before the next one if twice.
func (b *bench) interrupt(r *row, sig syscall.Signal, twice bool) error {
	every := 2
	if b.harness.quick {
		every = 17
	}
	return b.sweep(r, disturbance{
		every:   every,
		watched: b.data,
		do: func(_ *try, _ step, since int) verdict {
			if since == 0 || twice && since == 1 {
				return verdict{signal: sig}
			}
			return verdict{}
		},
		judge: func(t *try) []string {
			wrong := b.judge(t.dir, outcome{end: t.end, text: t.text, mayLeave: twice && t.end.signal == sig})
			if t.end != (ending{}) && t.end != (ending{code: 128 + int(sig)}) && t.end != (ending{signal: sig}) {
				wrong = append(wrong, fmt.Sprintf("%v, not %d: %s", t.end, 128+int(sig), brief(t.text)))
			}
			return wrong
		},
	})
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
	return nil
}

func (b *bench) interruptStuck(waits string, sig syscall.Signal) ([]string, error) {
	dir, err := b.box()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := b.run(dir)
	read, write, err := os.Pipe() // never written to
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

// signalled runs cmd and sends the signal after a second, when it surely waits.
func signalled(cmd *exec.Cmd, sig syscall.Signal) (ending, string, error) {
	timer := time.AfterFunc(time.Second, func() { _ = cmd.Process.Signal(sig) })
	defer timer.Stop()
	return runPlain(cmd)
}
