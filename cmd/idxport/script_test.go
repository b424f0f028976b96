package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idxport/idxport/test/must"
)

// TestMain makes the test binary the program itself where it is named idxport, so that scripts run
// the real main in a process of its own.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "idxport" {
		// Under nohup the programs would inherit that this signal is ignored.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, map[string]func(){"idxport": main})
}

// TestScripts runs the scripts in testdata/script. Each is one task of a user. Their patterns have
// [/\\] in paths that Windows gives with a backslash, and ['"] where it has double quotes.
// What is for [unix] alone needs links, pipes, modes or signals, its programs, or its words for
// errors.
func TestScripts(t *testing.T) {
	t.Parallel()
	samples := must.Get(filepath.Abs(samples))(t)
	testscript.Run(t, testscript.Params{
		Dir:             filepath.Join("testdata", "script"),
		ContinueOnError: true, // so that one defect does not hide the next
		Setup: func(env *testscript.Env) error {
			for name, folder := range map[string]string{"FASHION": "fashion-mnist", "QMNIST": "qmnist", "TINY": "tiny",
				"HOSTILE": "hostile", "LISTS": "lists", "FOREIGN": "foreign"} {
				env.Setenv(name, filepath.Join(samples, folder))
			}
			env.Setenv("PICTURES", filepath.Join(samples, "..", "source", "picture", "testdata"))
			for _, n := range []int{203, 204, 218, 250, 251} { // names that are nearly too long, without their endings
				env.Setenv(fmt.Sprint("X", n), strings.Repeat("x", n))
			}
			env.Setenv("WIDE", "x"+strings.Repeat("ü", 125))
			env.Setenv("GORACE", os.Getenv("GORACE")) // `make race` sets it
			env.Values[heldKey{}] = map[string]*held{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			return name == "root" && os.Geteuid() == 0, nil
		},
		Cmds: scriptCommands(map[string]func(*testscript.TestScript, []string){
			"exits CODE COMMAND…":        exits,
			"typed CODE PATTERN COMMAND": typed,
			"idx FILE DTYPE SHAPE FIRST": makeIDX,
			"pack FROM TO":               pack,
			"unpack FROM TO":             unpack,
			"cut FROM TO BYTES":          cut,
			"holds FOLDER [NAME…]":       holds,
			"size FILE BYTES":            size,
			"glob PATTERN COUNT":         glob,
			"join PATTERN TO":            join,
			"table FILE TO":              dumpTable,
			"pixels FILE TO":             dumpPNG,
			"hostile COMMAND…":           hostile,
			"reports CODE FILE":          reports,
			"pipeshut CODE ARGS…":        pipeShut,
			"hold NAME FILE WAIT ARGS…":  hold,
			"end NAME SIGNAL CODE":       end,
		}),
	})
}

// scriptCommands returns commands by name, which check the number of their arguments: all words of
// the usage but those in brackets, and any number more if it ends with an ellipsis.
func scriptCommands(byUsage map[string]func(*testscript.TestScript, []string)) map[string]func(
	*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for usage, command := range byUsage {
		words := strings.Fields(usage)
		least, more := len(words)-1-strings.Count(usage, "["), strings.Contains(usage, "…")
		all[words[0]] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < least || !more && len(args) > least {
				ts.Fatalf("usage: %s", usage)
			}
			command(ts, args)
		}
	}
	return all
}
