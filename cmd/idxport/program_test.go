package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// samples is the folder of test files, and fashion has small files of Fashion-MNIST, by whose names
// they are found.
var (
	samples = filepath.Join("..", "..", "testdata")
	fashion = filepath.Join(samples, "fashion-mnist")
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}

// writeFile writes a file in a folder, and returns its path.
func writeFile(t *testing.T, folder, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	must.Do(t, os.WriteFile(path, data, 0o666))
	return path
}

// runProgram runs the program in this process and returns its exit code and its output.
func runProgram(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = run(slices.Concat([]string{"idxport"}, args), strings.NewReader(""), &out, &out)
	return code, out.String()
}

// succeed runs the program, which must succeed, and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	code, said := runProgram(args...)
	if code != exitOK {
		t.Fatalf("%q: exit code %d: %s", args, code, said)
	}
	return said
}

// runJSON runs the program in this process with --json.
func runJSON(args ...string) (stdout, stderr []byte, code int) {
	var out, messages bytes.Buffer
	code = run(slices.Concat([]string{"idxport"}, args, []string{"--json"}), strings.NewReader(""), &out, &messages)
	return out.Bytes(), messages.Bytes(), code
}

// child returns a process of the program: TestMain makes this binary the program if its name is
// idxport.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return &exec.Cmd{Path: must.Get(os.Executable())(t), Args: slices.Concat([]string{"idxport"}, args)}
}
