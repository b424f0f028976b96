// Command mutants counts the small defects that the tests notice. It makes defects in the sources
// of packages, one at a time (a negated condition, && for ||, < for <=, an integer off by one, a
// statement left out, nil in place of an error), and runs the package's own tests on each and, if
// the mutant survives these, those of another package. A mutant that survives shows a missing test,
// an unnecessary statement, or a change that no user can see: a reader must decide. No file of the
// tree is changed: the compiler gets the mutant by an overlay.
//
//	go run ./test/mutants -packages source/idx,schema -n 40 -seed 1
//	go run ./test/mutants -at source/idx/reader.go:95
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxMemory is the address space of a run in KiB: a loop that never ends may allocate.
const maxMemory = 8 << 20

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutants: ")
	packages := flag.String("packages", "", "comma-separated `folders` of the packages")
	n := flag.Int("n", 40, "`number` of mutants of each package that are tried")
	seed := flag.Uint64("seed", 1, "`seed` of the sample")
	at := flag.String("at", "", "try all mutants of one line, `FILE:LINE`, and no others")
	also := flag.String("also", "", "`folder` of a package whose tests run on the mutants that survive their own")
	timeout := flag.Duration("timeout", 2*time.Minute, "time for the tests of a mutant; a slower one is killed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, strings.Split(*packages, ","), *also, *at, *n, *seed, *timeout); err != nil {
		stop()
		log.Fatal(err)
	}
}

// run tries n mutants of each package, or all of the line at.
func run(ctx context.Context, packages []string, also, at string, n int, seed uint64, timeout time.Duration) error {
	if at != "" {
		packages = []string{filepath.Dir(at)}
	}
	scratch, err := os.MkdirTemp("", "idxport-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	for _, folder := range packages {
		b := bench{folder: filepath.ToSlash(filepath.Clean(folder)), also: also, scratch: scratch, timeout: timeout}
		mutants, err := b.mutants()
		if err != nil {
			return err
		}
		if at != "" {
			mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return m.place() != at })
			if n = len(mutants); n == 0 {
				return fmt.Errorf("%s: no mutants", at)
			}
		}
		if err := b.try(ctx, mutants, n, seed); err != nil {
			return fmt.Errorf("%s: %w", b.folder, err)
		}
	}
	return nil
}

// A bench tries mutants of one package.
type bench struct {
	folder, also, scratch string
	timeout               time.Duration
}

// mutants lists the mutants of the files that this system compiles, in the order of the sources.
func (b *bench) mutants() ([]mutant, error) {
	pkg, err := build.ImportDir(b.folder, 0)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range pkg.GoFiles {
		mutants, err := fileMutants(b.folder + "/" + name)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	return all, nil
}

// try tests random mutants until n were compiled and tested, and prints the outcome of each.
func (b *bench) try(ctx context.Context, mutants []mutant, n int, seed uint64) error {
	if out, err := b.test(ctx, b.folder, ""); err != nil {
		return fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(mutants), func(i, k int) { mutants[i], mutants[k] = mutants[k], mutants[i] })
	killed, survived, invalid := 0, 0, 0
	for _, m := range mutants {
		if killed+survived == n {
			break
		}
		overlay, err := b.overlay(m)
		if err != nil {
			return err
		}
		if _, err := b.command(ctx, "go", "build", "-o", os.DevNull, overlay, "./"+b.folder); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			invalid++
			continue
		}
		out, err := b.test(ctx, b.folder, overlay)
		if err == nil && b.also != "" {
			out, err = b.test(ctx, b.also, overlay)
		}
		outcome := "killed"
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			outcome = "survived"
			survived++
		case bytes.Contains(out, []byte("panic: test timed out")):
			outcome = "timeout"
			fallthrough
		default:
			killed++
		}
		fmt.Printf("%-8s %s: %s\n", outcome, m.place(), m)
	}
	fmt.Printf("%s: %d of %d killed, of %d mutants; %d did not compile\n",
		b.folder, killed, killed+survived, len(mutants), invalid)
	return nil
}

// overlay writes m and an overlay file for the compiler, and returns the flag for it.
func (b *bench) overlay(m mutant) (string, error) {
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(b.scratch, "mutant.go")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(b.scratch, "overlay.json")
	err = cmp.Or(os.WriteFile(changed, m.mutated(), 0o600), os.WriteFile(overlay, replace, 0o600))
	return "-overlay=" + overlay, err
}

// test runs the tests of the package in folder, without vet.
func (b *bench) test(ctx context.Context, folder, overlay string) ([]byte, error) {
	args := []string{"go", "test", "-vet=off", "-count=1", "-timeout=" + b.timeout.String()}
	if overlay != "" {
		args = append(args, overlay)
	}
	return b.command(ctx, append(args, "./"+folder)...)
}

// command runs a program with bounded memory, and with the temporary files of the tests in the
// scratch folder.
func (b *bench) command(ctx context.Context, args ...string) ([]byte, error) {
	limited := []string{"-c", "ulimit -v " + strconv.Itoa(maxMemory) + ` && exec "$0" "$@"`}
	command := exec.CommandContext(ctx, "sh", append(limited, args...)...)
	command.Env = append(os.Environ(), "TMPDIR="+b.scratch)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // go ends the tests that it runs
	command.WaitDelay = 5 * time.Second
	out, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("running %s: %w", args[0], err)
	}
	return out, err
}
