package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// heldKey is the key of a script's held processes.
type heldKey struct{}

// held is a run of the program that waits for more of its standard input.
type held struct {
	command        *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr *lockedBuffer
}

// lockedBuffer is what a process wrote so far.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// signals are what end sends, by name.
var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}

// hold NAME FILE WAIT ARGS… starts idxport with the bytes of FILE on its standard input, which
// stays open. It returns once an output is begun in the folder WAIT or, where WAIT is "read", once
// it waits for data. The script must end it.
func hold(ts *testscript.TestScript, args []string) {
	h := &held{command: newProcess(ts, args[3:]), stdout: &lockedBuffer{}, stderr: &lockedBuffer{}}
	h.command.Stdout, h.command.Stderr = h.stdout, h.stderr
	var err error
	h.stdin, err = h.command.StdinPipe()
	ts.Check(err)
	ts.Check(h.command.Start())
	ts.Defer(func() {
		if h.command.ProcessState == nil {
			_ = h.command.Process.Kill() // it may have ended by itself
			_ = h.command.Wait()         // with the error of the signal
		}
	})
	ts.Value(heldKey{}).(map[string]*held)[args[0]] = h
	_, err = io.WriteString(h.stdin, ts.ReadFile(args[1]))
	ts.Check(err)
	for range 500 {
		if h.begun(ts, args[2]) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("waited for %s in vain; standard error: %s", args[2], h.stderr)
}

// begun reports whether what hold waits for is there.
func (h *held) begun(ts *testscript.TestScript, wait string) bool {
	if wait == "read" {
		return h.reads()
	}
	found, _ := filepath.Glob(filepath.Join(ts.MkAbs(wait), ".*.partial")) // the pattern is well formed
	return len(found) > 0
}

// reads reports whether a thread of the process waits in read(0, …), as Linux shows it; elsewhere
// it is given a second.
func (h *held) reads() bool {
	if runtime.GOOS != "linux" {
		time.Sleep(time.Second)
		return true
	}
	pattern := fmt.Sprintf("/proc/%d/task/*/syscall", h.command.Process.Pid)
	threads, _ := filepath.Glob(pattern) // it is well formed
	return slices.ContainsFunc(threads, func(path string) bool {
		call, _ := os.ReadFile(path) // of a thread that ended there is nothing
		return strings.HasPrefix(string(call), map[string]string{"amd64": "0", "arm64": "63"}[runtime.GOARCH]+" 0x0 ")
	})
}

// endsWithin is how long a process may take to end.
const endsWithin = 3 * time.Second

// end NAME SIGNAL CODE sends a signal to a held process, or closes its standard input where SIGNAL
// is EOF, and demands an exit code; −1 is that of a process that was killed. What it wrote is
// what the command end writes.
func end(ts *testscript.TestScript, args []string) {
	h := ts.Value(heldKey{}).(map[string]*held)[args[0]]
	if s, ok := signals[args[1]]; ok {
		ts.Check(h.command.Process.Signal(s))
	} else {
		ts.Check(h.stdin.Close())
	}
	late := time.AfterFunc(endsWithin, func() { _ = h.command.Process.Kill() }) // it may have ended meanwhile
	err := h.command.Wait()
	if !late.Stop() {
		ts.Fatalf("still running %v after %s", endsWithin, args[1])
	}
	_, _ = io.WriteString(ts.Stdout(), h.stdout.String()) // into memory
	_, _ = io.WriteString(ts.Stderr(), h.stderr.String())
	demandCode(ts, args[2], err)
}

// pipeshut CODE ARGS… runs idxport with a standard output that nobody reads any more.
func pipeShut(ts *testscript.TestScript, args []string) {
	r, w, err := os.Pipe()
	ts.Check(err)
	ts.Check(r.Close())
	command := newProcess(ts, args[1:])
	command.Stdout, command.Stderr = w, ts.Stderr()
	err = command.Run()
	ts.Check(w.Close())
	demandCode(ts, args[0], err)
}

// reports CODE FILE demands that FILE, such as stderr, is the report of a run that ended with this
// exit code.
func reports(ts *testscript.TestScript, args []string) {
	text := ts.ReadFile(args[1])
	_, wrong := checkReport([]byte(text), number(ts, args[0]))
	if len(wrong) > 0 {
		ts.Fatalf("found %q in %s", wrong, text)
	}
}

// newProcess is a process of idxport in the script's working folder.
func newProcess(ts *testscript.TestScript, args []string) *exec.Cmd {
	command := exec.Command("idxport", args...)
	command.Dir = ts.MkAbs(".")
	return command
}
