//go:build linux && amd64

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is how long one run may take; a tenth of a second is usual.
const patience = 60 * time.Second

// A tree is the contents of a folder: type, permissions and SHA-256 by relative path.
type tree map[string]string

func readTree(dir string) (tree, error) {
	found := tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[name] = fileState(info.Mode(), content)
		}
		return nil
	})
	return found, err
}

func fileState(mode fs.FileMode, content []byte) string {
	return fmt.Sprintf("%s %d bytes %x", mode, len(content), sha256.Sum256(content))
}

// under is the part of t at name and below.
func (t tree) under(name string) tree {
	part := tree{}
	for path, what := range t {
		if path == name || strings.HasPrefix(path, name+"/") {
			part[path] = what
		}
	}
	return part
}

// A scenario is a command line and its targets.
type scenario struct {
	name    string
	inputs  []string
	flags   []string
	targets []string
	quick   bool   // part of the quick form
	rows    string // of the new outputs; empty: newRows
	scratch bool   // needs a scratch file of 36 MB
}

// Rows of the old and of the new outputs: different, and few, so that a run has few calls.
const (
	oldRows = "0:3"
	newRows = "2:6"
)

// A state says which targets exist before the run.
type state struct {
	name    string
	flag    string // of the run, which replaces outputs; empty: it does not
	old     int    // so many of the targets exist
	fromNew bool   // with the content of the new run: an earlier run was killed between two outputs
}

var (
	fresh       = state{name: "new"}
	overwriting = state{name: "overwrite", flag: "--overwrite", old: 2}
	changed     = state{name: "if changed", flag: "--if-changed", old: 2}
	completing  = state{name: "half published", old: 1, fromNew: true}
)

// A bench is a scenario in a state, with references for its outcomes.
type bench struct {
	*harness
	scenario
	state
	before tree   // the folder before a run: old outputs and foreign files
	after  tree   // the folder after a run without faults
	base   string // a folder with the files of before
}

func (b *bench) String() string { return b.scenario.name + ", " + b.state.name }

// foreign are files that no run may touch. Two are named like files of a run with another target.
var foreign = map[string]string{
	"notes.txt": "mine",
	".hidden":   "mine too",
	".other.parquet.idxport-0123456789abcdef.partial": "of a run with another target",
	".other.parquet.idxport":                          "",
	"folder/file":                                     "mine as well",
}

// prepare makes the references of a scenario in a state.
func (h *harness) prepare(sc scenario, st state) (*bench, error) {
	b := &bench{harness: h, scenario: sc, state: st, base: filepath.Join(h.tmp, "base", sc.name+" "+st.name)}
	result := b.base + " result"
	for _, dir := range []string{b.base, result} {
		for name, content := range foreign {
			if err := writeFile(filepath.Join(dir, name), content); err != nil {
				return nil, err
			}
		}
		if err := b.twin().mustMake(dir, newRows); err != nil {
			return nil, err
		}
	}
	rows := oldRows
	if st.fromNew {
		rows = sc.newRows()
	}
	if st.old > 0 {
		if err := b.mustMake(b.base, rows); err != nil {
			return nil, err
		}
		for _, name := range sc.targets[min(st.old, len(sc.targets)):] {
			if err := os.RemoveAll(filepath.Join(b.base, name)); err != nil {
				return nil, err
			}
		}
	}
	if err := b.mustMake(result, sc.newRows()); err != nil {
		return nil, err
	}
	var err error
	if b.before, err = readTree(b.base); err != nil {
		return nil, err
	}
	if b.after, err = readTree(result); err != nil {
		return nil, err
	}
	for _, name := range sc.targets {
		if len(b.after.under(name)) == 0 {
			return nil, fmt.Errorf("%s: no output %s", sc.name, name)
		}
		if !st.fromNew && maps.Equal(b.before.under(name), b.after.under(name)) {
			return nil, fmt.Errorf("%s: old and new %s do not differ", sc.name, name)
		}
	}
	return b, nil
}

func (b *bench) mustMake(dir, rows string) error {
	end, text, err := runPlain(b.command(dir, rows, b.flag))
	if err != nil || end != (ending{}) {
		return fmt.Errorf("%s without faults: %v, %v: %s", b.scenario.name, end, err, text)
	}
	return nil
}

// box makes a folder with the files from before a run.
func (b *bench) box() (string, error) {
	dir, err := os.MkdirTemp(b.tmp, "box-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	return dir, b.fill(dir)
}

func (b *bench) fill(dir string) error { return os.CopyFS(dir, os.DirFS(b.base)) }

// command is the run, with a flag that may be empty.
func (b *bench) command(dir, rows, flag string) *exec.Cmd {
	args := slices.Concat([]string{"convert", "--quiet", "--rows", rows}, b.inputs, b.flags, words(flag))
	cmd := exec.Command(b.binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir)
	return cmd
}

// run is the run that makes the new outputs.
func (b *bench) run(dir string) *exec.Cmd { return b.command(dir, b.newRows(), b.flag) }

// twin is the run of the other part or, in other scenarios, with another target. Its outputs are
// in the folder, and no other run may touch them.
func (b *bench) twin() *bench {
	other := strings.NewReplacer("2/2", "1/2", "2-of-2", "1-of-2")
	if b.scenario.name != "part" {
		other = strings.NewReplacer(b.targets[0], "another-"+b.targets[0])
	}
	twin := *b
	twin.flags, twin.targets = slices.Clone(b.flags), slices.Clone(b.targets)
	for _, texts := range [][]string{twin.flags, twin.targets} {
		for i := range texts {
			texts[i] = other.Replace(texts[i])
		}
	}
	return &twin
}

// folder reports whether the first target is one.
func (s scenario) folder() bool { return slices.Contains([]string{"png", "parts", "hub"}, s.name) }

func (s scenario) newRows() string { return cmp.Or(s.rows, newRows) }

// runPlain runs cmd to its end, and returns its standard error.
func runPlain(cmd *exec.Cmd) (ending, string, error) {
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := cmd.Start(); err != nil {
		return ending{}, "", err
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // how it ended is judged by the caller
	hung := !timer.Stop()
	end := endingOf(cmd.ProcessState.Sys().(syscall.WaitStatus))
	end.hung = hung
	return end, text.String(), nil
}

// runTraced is runPlain with a verdict about each call on one of the watched paths.
func runTraced(cmd *exec.Cmd, watched []string, decide func(step) verdict) (ending, string, error) {
	text, err := os.CreateTemp("", "stderr-")
	if err != nil {
		return ending{}, "", err
	}
	defer os.Remove(text.Name())
	defer text.Close()
	cmd.Stderr = text
	end, err := traced(cmd, watched, decide)
	if err != nil {
		return end, "", err
	}
	content, err := os.ReadFile(text.Name())
	return end, string(content), err
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o666)
}
