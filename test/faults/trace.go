//go:build linux && amd64

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A step is a system call on a watched path, before it happens.
type step struct {
	n        int // among the watched calls of the run, from 1
	call     string
	path, to string // of a descriptor what it leads to; to is the second path of rename and link
	size     int    // bytes of a write
	flags    int    // of open and renameat2
	kind     kind
}

func (s step) String() string {
	text := fmt.Sprintf("call %d, %s %s", s.n, s.call, s.path)
	if s.to != "" {
		text += " → " + s.to
	}
	if s.size > 0 {
		text += fmt.Sprintf(" (%d bytes)", s.size)
	}
	return text
}

// effect reports whether the call may change what is on disk, or decides about it.
func (s step) effect() bool { return s.kind != reads && (s.kind != opens || s.creates()) }

func (s step) creates() bool { return s.kind == opens && s.flags&syscall.O_CREAT != 0 }

// A verdict decides about a step. The zero value lets it happen.
type verdict struct {
	kill   bool           // the whole process ends before the call
	signal syscall.Signal // arrives before the call
	fail   syscall.Errno  // instead of the call
	nop    bool           // nothing happens, and the call says it did
	after  syscall.Errno  // the call happens, and returns this
	half   bool           // half of the bytes are written
	lie    bool           // … and the call says that all were
	last   bool           // the whole process ends after the call
}

// An ending is how a run ended.
type ending struct {
	code   int            // if it ended by itself
	signal syscall.Signal // if it was killed
	hung   bool           // it had to be
}

func (e ending) String() string {
	switch {
	case e.hung:
		return "hung"
	case e.signal != 0:
		return "killed by " + e.signal.String()
	}
	return fmt.Sprintf("exit %d", e.code)
}

func endingOf(status syscall.WaitStatus) ending {
	if status.Signaled() {
		return ending{signal: status.Signal()}
	}
	return ending{code: status.ExitStatus()}
}

// Options of ptrace(2) and wait4(2) that package syscall lacks.
const (
	ptraceExitKill = 0x100000
	waitNoThread   = 0x20000000 // __WNOTHREAD: only what this thread traces
)

// A tracer runs one program and stops it before each system call on a watched path. The calls of
// all threads are counted together; strace counts each thread for itself, and the calls of a Go
// program move between threads, so that its when=N misses some.
type tracer struct {
	watched []string // folders and files, absolute and without symbolic links
	decide  func(step) verdict
	pid     int
	steps   int
	threads map[int]*thread
}

// A thread is between two stops.
type thread struct {
	inside bool // a system call
	do     verdict
	size   uint64 // of a write that was halved
}

// traced runs cmd, whose standard streams must be files or nil, to its end.
func traced(cmd *exec.Cmd, watched []string, decide func(step) verdict) (ending, error) {
	runtime.LockOSThread() // ptrace knows threads, not processes
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	t := &tracer{watched: watched, decide: decide, pid: cmd.Process.Pid, threads: map[int]*thread{}}
	var hung atomic.Bool
	timer := time.AfterFunc(patience, func() {
		hung.Store(true)
		_ = syscall.Kill(t.pid, syscall.SIGKILL)
	})
	status, err := t.run()
	timer.Stop()
	_ = cmd.Process.Release()
	end := endingOf(status)
	end.hung = hung.Load()
	return end, err
}

// run carries the program from stop to stop.
func (t *tracer) run() (syscall.WaitStatus, error) {
	var status syscall.WaitStatus
	if _, err := wait(t.pid, &status); err != nil {
		return status, err
	}
	t.threads[t.pid] = &thread{}
	options := syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACESYSGOOD | ptraceExitKill
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return status, fmt.Errorf("ptrace: %w", err)
	}
	_ = syscall.PtraceSyscall(t.pid, 0)
	for {
		tid, err := wait(-t.pid, &status)
		if err != nil {
			return status, fmt.Errorf("wait: %w", err)
		}
		if status.Exited() || status.Signaled() {
			delete(t.threads, tid)
			if tid == t.pid { // reported after all other threads
				return status, nil
			}
			continue
		}
		_ = syscall.PtraceSyscall(tid, int(t.stopped(tid, status))) // fails only if the thread has been killed
	}
}

func wait(pid int, status *syscall.WaitStatus) (int, error) {
	for {
		tid, err := syscall.Wait4(pid, status, syscall.WALL|waitNoThread, nil)
		if err != syscall.EINTR {
			return tid, err
		}
	}
}

// stopped deals with one stop and returns the signal to deliver.
func (t *tracer) stopped(tid int, status syscall.WaitStatus) syscall.Signal {
	th, known := t.threads[tid]
	if !known {
		th = &thread{}
		t.threads[tid] = th
	}
	switch sig := status.StopSignal(); {
	case sig == syscall.SIGTRAP|0x80:
		th.inside = !th.inside
		if th.inside {
			t.enter(tid, th)
		} else {
			leave(t.pid, tid, th)
		}
		return 0
	case sig == syscall.SIGTRAP && status.TrapCause() > 0: // a new thread
		return 0
	case !known && sig == syscall.SIGSTOP: // its first stop
		return 0
	default:
		return sig
	}
}

func (t *tracer) enter(tid int, th *thread) {
	*th = thread{inside: true}
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil {
		return
	}
	s, ok := describe(tid, &regs)
	if !ok || !t.watches(s) {
		return
	}
	t.steps++
	s.n = t.steps
	th.do = t.decide(s)
	switch do := th.do; {
	case do.kill:
		_ = syscall.Kill(t.pid, syscall.SIGKILL)
	case do.signal != 0:
		_ = syscall.Kill(t.pid, do.signal)
	case do.fail != 0, do.nop:
		regs.Orig_rax = ^uint64(0) // no such call: nothing happens
		_ = syscall.PtraceSetRegs(tid, &regs)
	case do.half:
		th.size = regs.Rdx
		regs.Rdx /= 2
		_ = syscall.PtraceSetRegs(tid, &regs)
	}
}

func leave(pid, tid int, th *thread) {
	var regs syscall.PtraceRegs
	if th.do == (verdict{}) || syscall.PtraceGetRegs(tid, &regs) != nil {
		return
	}
	switch do := th.do; {
	case do.last:
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return
	case do.nop:
		regs.Rax = 0
	case do.fail != 0:
		regs.Rax = uint64(-int64(do.fail))
	case do.after != 0:
		regs.Rax = uint64(-int64(do.after))
	case do.lie:
		regs.Rax, regs.Rdx = th.size, th.size
	case do.half:
		regs.Rdx = th.size
	default:
		return
	}
	_ = syscall.PtraceSetRegs(tid, &regs)
}

func (t *tracer) watches(s step) bool {
	for _, root := range t.watched {
		for _, path := range []string{s.path, s.to} {
			if path == root || strings.HasPrefix(path, root+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}
