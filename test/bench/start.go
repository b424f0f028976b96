//go:build linux

package main

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// What the project promises of the program itself.
const (
	mostStart = 5  // milliseconds of `idxport version`
	mostSize  = 21 // MB of the stripped program, of which object storage is 5: make lean demands less than 15 without it
)

// startRuns is how many runs of the start-up stand for one of a contest: they are short, and what
// disturbs them is not.
const startRuns = 15

// startName is what -only looks in.
const startName = "start-up and size"

// A start is how long `idxport version` takes beside a Go program that does nothing. The difference
// is what packages do before main, the pages of the program that they touch, and the command line.
type start struct {
	Run, Empty figures
	Most       float64 // milliseconds
}

const startHead = "start-up                                                    ms  user+sys ms  empty ms  empty user+sys  aim ms"

func (b start) text() string {
	return fmt.Sprintf("%-52s  %8.1f  %11.1f  %8.1f  %14.1f  %6.1f", "idxport version / an empty Go program", b.Run.Wall, b.Run.CPU, b.Empty.Wall, b.Empty.CPU, b.Most)
}

// emptyProgram is what start-up is held against.
const emptyProgram = "package main\n\nfunc main() {}\n"

// start measures the start-up. The empty program is built as the real one is, outside s.tmp, which
// may forbid to run programs.
func (s *settings) start(ctx context.Context, work string) (start, error) {
	folder, err := os.MkdirTemp("", folderPrefix+"*")
	if err != nil {
		return start{}, err
	}
	defer os.RemoveAll(folder) // two small files
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(emptyProgram), 0o666); err != nil {
		return start{}, err
	}
	empty := filepath.Join(folder, "empty")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", empty, "main.go")
	build.Dir = folder
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return start{}, fmt.Errorf("building an empty Go program to compare with: %w\n%s", err, text)
	}
	ours, theirs, _, err := s.turns(ctx, []string{s.binary, "version"}, []string{empty}, startRuns*s.runs, work, work)
	return start{ours, theirs, mostStart}, err
}

// A size is that of the program's file in MB (10⁶ bytes).
type size struct {
	MB, Most float64
	Stripped bool // the symbol table is not there; else the size says little
}

const sizeHead = "size                                                        MB  aim MB"

func (z size) text() string { return fmt.Sprintf("%-52s  %8.2f  %6.1f", z.name(), z.MB, z.Most) }

func (z size) name() string {
	if z.Stripped {
		return "the program, static and stripped"
	}
	return "the program, NOT stripped: see make build"
}

// size measures the program's file.
func (s *settings) size() (size, error) {
	info, err := os.Stat(s.binary)
	if err != nil {
		return size{}, err
	}
	f, err := elf.Open(s.binary)
	if err != nil {
		return size{}, fmt.Errorf("%s: %w", s.binary, err)
	}
	defer f.Close() // only read from
	return size{float64(info.Size()) / 1e6, mostSize, f.Section(".symtab") == nil}, nil
}
