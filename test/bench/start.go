//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The project's aims for the program itself.
const (
	startAim = 5  // milliseconds of `idxport version`
	sizeAim  = 21 // MB of the stripped program
)

// startRuns is the number of runs of the start-up for each run of a contest: they are short, and
// easily disturbed.
const startRuns = 15

// start measures `idxport version` and a Go program that does nothing, built like the real one. The
// difference is the work of packages before main, page faults, and the command line.
func (s *settings) start(ctx context.Context, work string) (version, empty figures, err error) {
	folder, err := os.MkdirTemp("", folderPrefix+"*") // the tmpfs may forbid programs
	if err != nil {
		return version, empty, err
	}
	defer os.RemoveAll(folder) // two small files
	source := []byte("package main\n\nfunc main() {}\n")
	if err := os.WriteFile(filepath.Join(folder, "main.go"), source, 0o666); err != nil {
		return version, empty, err
	}
	program := filepath.Join(folder, "empty")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "main.go")
	build.Dir = folder
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return version, empty, fmt.Errorf("building an empty Go program: %w\n%s", err, text)
	}
	run, limit := []string{s.binary, "version"}, []string{program}
	version, empty, _, err = s.turns(ctx, run, limit, startRuns*s.runs, work, work)
	return version, empty, err
}
