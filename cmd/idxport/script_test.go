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
)

// TestMain makes the test binary the program itself where it is named idxport, so that scripts run
// the real main in a process of its own.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "idxport" {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // so that under nohup the programs do not inherit that it is ignored
	}
	testscript.Main(m, map[string]func(){"idxport": main})
}

// TestScripts runs the scripts in testdata/script. Each is one task of a user.
func TestScripts(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:             filepath.Join("testdata", "script"),
		ContinueOnError: true, // so that one defect does not hide the next
		Setup: func(env *testscript.Env) error {
			for name, folder := range map[string]string{"FASHION": "fashion-mnist", "QMNIST": "qmnist", "TINY": "tiny", "HOSTILE": "hostile", "LISTS": "lists",
				"FOREIGN": "foreign"} {
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"idx":      makeIDX,
			"pack":     pack,
			"unpack":   unpack,
			"cut":      cut,
			"holds":    holds,
			"size":     size,
			"glob":     glob,
			"join":     join,
			"table":    dumpTable,
			"pixels":   dumpPNG,
			"hostile":  hostile,
			"pipeshut": pipeShut,
			"hold":     hold,
			"end":      end,
		},
	})
}
