//go:build linux

// Command bench compares whole runs of idxport with the limits of the machine, measured in the same
// session.
//
// A limit is a process that does the least work that any program needs for the same result: copy
// the bytes, write them, compress them, inflate them, or create the files. Runs and limits take
// turns, so that a machine whose speed drifts slows both; medians and the median of the ratios of
// neighbours are printed. Outputs go to a tmpfs, where fsync costs nothing; those of the durable
// contests go to a disk. The start-up is compared with an empty Go program, the size of the program
// with the project's aim.
//
//	go run ./test/bench -binary bin/idxport -data data
//	go run ./test/bench -write test/bench/RESULTS.md  # writes the table, keeps the notes
//	go run ./test/bench -n 1 -big 0.1                 # a quick trial, inputs of 0.1 GiB
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// settings are the flags.
type settings struct {
	binary, self, data, tmp, disk string
	runs                          int
	only                          string
	bigGiB                        float64
	write                         string
}

func main() {
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.binary, "binary", "bin/idxport", "the program to measure")
	flag.StringVar(&s.data, "data", "data", "folder with mnist/ and fashion-mnist/ (see make data)")
	flag.IntVar(&s.runs, "n", 7, "runs of each")
	flag.StringVar(&s.tmp, "tmp", "/dev/shm", "folder for outputs: a tmpfs")
	flag.StringVar(&s.disk, "disk", ".", "folder for outputs of durable contests: a disk")
	flag.StringVar(&s.only, "only", "", "measure only the contests whose names contain this")
	flag.Float64Var(&s.bigGiB, "big", 2, "size of the large inputs in GiB")
	flag.StringVar(&s.write, "write", "", "write the results to this file too, between its markers")
	limit := flag.String("limit", "", "internal: be the limit of this name")
	flag.Parse()
	if *limit != "" {
		if err := limits[*limit](flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	// Deferred removals must run: files on a tmpfs are memory.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := s.measure(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// measure runs the contests and reports.
func (s *settings) measure(ctx context.Context) (err error) {
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	if s.binary, err = filepath.Abs(s.binary); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.tmp, folderPrefix+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	all := results{session: s.session(ctx)}
	if err := s.contests(ctx, &all, work); err != nil {
		return err
	}
	return s.writeMarkdown(all)
}

// check finds what would make a run fail after minutes: missing files, too little space, a results
// file without markers.
func (s *settings) check() error {
	mnist, fashion := filepath.Join(s.data, "mnist"), filepath.Join(s.data, "fashion-mnist")
	for _, path := range []string{s.binary, mnist, fashion} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w\nhint: make build data", err)
		}
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.tmp, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: s.tmp, Err: err}
	}
	need := 2.1 * float64(gib(s.bigGiB)) // an input and its output
	if free := float64(st.Bavail) * float64(st.Bsize); free < need {
		return fmt.Errorf("%s has %.1f GB free, expected %.1f\n"+
			"hint: use another folder with -tmp, or smaller inputs with -big", s.tmp, free/1e9, need/1e9)
	}
	if s.write == "" {
		return nil
	}
	if s.only != "" {
		return errors.New("-write replaces the whole table and cannot be combined with -only")
	}
	text, err := os.ReadFile(s.write)
	if err == nil {
		_, err = replaceSection(string(text), "")
	}
	return err
}

// contests runs the chosen contests, then measures the start-up and the size.
func (s *settings) contests(ctx context.Context, all *results, work string) error {
	large := ""
	for _, c := range contests {
		c.name = strings.ReplaceAll(c.name, "{big}", gibText(s.bigGiB))
		if !strings.Contains(c.name, s.only) {
			continue
		}
		if c.large != large { // only one fits
			os.Remove(inputPath(work, large))
			large = c.large
			if err := s.input(ctx, work, large, gib(s.bigGiB)); err != nil {
				return err
			}
		}
		r, err := s.hold(ctx, c, work)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		all.contests = append(all.contests, r)
		fmt.Println(r.text())
	}
	if len(all.contests) == 0 {
		return fmt.Errorf("no contest's name contains %q", s.only)
	}
	if s.only != "" {
		return nil
	}
	var err error
	if all.start, all.empty, err = s.start(ctx, work); err != nil {
		return err
	}
	info, err := os.Stat(s.binary)
	if err != nil {
		return err
	}
	all.size = float64(info.Size()) / 1e6
	fmt.Printf("start-up %.1f ms, of an empty Go program %.1f ms; size %.2f MB\n",
		all.start.wall, all.empty.wall, all.size)
	return nil
}

// paths fills in the placeholders of a command; out is its empty folder.
func (s *settings) paths(work, out string) *strings.Replacer {
	return strings.NewReplacer("{work}", work, "{out}", out,
		"{mnist}", filepath.Join(s.data, "mnist"), "{fashion}", filepath.Join(s.data, "fashion-mnist"))
}
