package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// measured are the folders whose packages are measured.
var measured = []string{"source", "schema", "sink", "pipeline"}

func main() {
	least := flag.Float64("least", 90, "fail below this `percentage` of statements or of branches")
	missed := flag.String("missed", "", "list the branches of this `folder` that no test takes; . is all")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("cover: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *least, *missed, flag.Args()); err != nil {
		stop()
		log.Fatal(err)
	}
}

// run measures the module of the working folder by the tests of packages, all if there are none.
func run(ctx context.Context, least float64, missed string, packages []string) error {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	scratch, err := os.MkdirTemp("", "idxport-cover-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	files, err := copyModule(ctx, ".", scratch)
	if err != nil {
		return err
	}
	t, tests := measure(ctx, scratch, files, packages)
	if t == nil {
		return tests
	}
	t.print(os.Stdout)
	if missed != "" {
		t.printMissed(os.Stdout, filepath.ToSlash(filepath.Clean(missed)))
	}
	return errors.Join(tests, t.check(least))
}

// measure instruments the sources among files, which are below root, and runs the tests. If they fail, there is an error beside the table.
func measure(ctx context.Context, root string, files, packages []string) (*table, error) {
	sources := map[string]*source{}
	for _, name := range files {
		folder, _, _ := strings.Cut(name, "/")
		if !slices.Contains(measured, folder) || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		s, err := instrumentFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		sources[name] = s
	}
	profile := filepath.Join(root, "cover.out")
	args := append([]string{"test", "-vet=off", "-coverprofile=" + profile, "-coverpkg=./" + strings.Join(measured, "/...,./") + "/..."}, packages...)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Stdout, command.Stderr = root, os.Stderr, os.Stderr
	tests := command.Run()
	if tests != nil {
		tests = fmt.Errorf("the tests failed, so the figures are too low: %w", tests)
	}
	blocks, err := readProfile(profile)
	if err != nil {
		return nil, errors.Join(tests, err)
	}
	return count(sources, blocks), tests
}
