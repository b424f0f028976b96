package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestReportOfEveryExitCode makes the program end with each of its exit codes, and holds each
// object against the schema.
func TestReportOfEveryExitCode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full, signals and locks are used as Linux has them")
	}
	schema := readSchema(t)
	seen := map[int]bool{}
	for code, run := range exitRuns(t) {
		stdout, found := run()
		t.Logf("%d: %s", code, bytes.TrimSpace(stdout))
		follows(t, schema, stdout, found, code)
		seen[found] = true
	}
	for _, code := range allExitCodes() {
		if !seen[code] {
			t.Errorf("no run ended with %d", code)
		}
	}
}

// exitRuns are a run for each exit code.
func exitRuns(t *testing.T) map[int]func() ([]byte, int) {
	t.Helper()
	dir := t.TempDir()
	in, there, sheet := filepath.Join(samples, "tiny", "uint8-3x7x9.idx"), filepath.Join(dir, "there.csv"), filepath.Join(dir, "x.csv")
	other := filepath.Join(samples, "tiny", "float32-3x7x9.idx")
	if stdout, code := ownJSON("convert", in, "-o", there); code != 0 {
		t.Fatalf("found exit code %d: %s", code, stdout)
	}
	forbidden := filepath.Join(dir, "forbidden")
	if os.Geteuid() == 0 {
		forbidden = "/sys" // where even root makes no files
	} else if err := os.Mkdir(forbidden, 0o555); err != nil {
		t.Fatal(err)
	}
	own := func(args ...string) func() ([]byte, int) { return func() ([]byte, int) { return ownJSON(args...) } }
	return map[int]func() ([]byte, int){
		exitOK:                            own("convert", in, "-o", filepath.Join(dir, "ok.csv")),
		exitDiffers:                       own("verify", there, other),
		exitUsage:                         own("convert", in, "-o", sheet, "--layout", "list"),
		exitData:                          own("convert", filepath.Join(samples, "hostile", "truncated.idx"), "-o", sheet),
		exitNoInput:                       own("convert", filepath.Join(dir, "none.idx"), "-o", sheet),
		exitInternal:                      ownPanic,
		exitCannotMake:                    own("convert", in, "-o", there),
		exitIO:                            own("convert", in, "-o", "csv=/dev/full"),
		exitLocked:                        func() ([]byte, int) { return lockedOut(t, in, there) },
		exitPermission:                    own("convert", in, "-o", filepath.Join(forbidden, "x.csv")),
		exitSignal + int(syscall.SIGHUP):  func() ([]byte, int) { return interruptedBy(t, in, syscall.SIGHUP) },
		exitSignal + int(syscall.SIGINT):  func() ([]byte, int) { return interruptedBy(t, in, syscall.SIGINT) },
		exitSignal + int(syscall.SIGTERM): func() ([]byte, int) { return interruptedBy(t, in, syscall.SIGTERM) },
		exitSignal + int(syscall.SIGPIPE): func() ([]byte, int) { return unread(t, in) },
	}
}

// A waiting is a process of the program that has begun an output and waits for more of its standard
// input.
type waiting struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  bytes.Buffer
}

// waitFor starts a conversion of the beginning of the file in to a CSV file at path, and returns
// once the output is begun.
func waitFor(t *testing.T, in, path string) *waiting {
	t.Helper()
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	w := &waiting{command: child(t, "convert", "-", "-o", path, "--overwrite", "--json")}
	w.command.Stdout = &w.stdout
	if w.stdin, err = w.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sync.OnceFunc(func() { _ = w.stdin.Close() })) // it is closed already if all went well
	if _, err := w.stdin.Write(data[:len(data)-1]); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if begun, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"*.partial")); len(begun) > 0 { // the pattern is well formed
			return w
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited for the output in vain")
	return nil
}

// child returns a process of the program: TestMain makes this binary the program if its name is
// idxport.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: slices.Concat([]string{"idxport"}, args)}
}

// lockedOut is a run that finds another at work on the same output.
func lockedOut(t *testing.T, in, path string) ([]byte, int) {
	t.Helper()
	w := waitFor(t, in, path)
	stdout, code := ownJSON("convert", in, "-o", path, "--overwrite")
	if err := w.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = w.command.Wait() // with the exit code of the signal
	return stdout, code
}

// interruptedBy is a run that a signal ends.
func interruptedBy(t *testing.T, in string, s syscall.Signal) ([]byte, int) {
	t.Helper()
	w := waitFor(t, in, filepath.Join(t.TempDir(), "x.csv"))
	if err := w.command.Process.Signal(s); err != nil {
		t.Error(err)
	}
	_ = w.command.Wait() // likewise
	return w.stdout.Bytes(), w.command.ProcessState.ExitCode()
}

// unread is a run whose standard output nobody reads: the object is on standard error, as it is
// wherever standard output carries the data.
func unread(t *testing.T, in string) ([]byte, int) {
	t.Helper()
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command := child(t, "convert", in, "-o", "csv=-", "--json", "--quiet")
	command.Stdout, command.Stderr = out, &stderr
	_ = command.Run() // its exit code is what is asked for
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	return stderr.Bytes(), command.ProcessState.ExitCode()
}
