//go:build linux

// Command bench compares whole runs of idxport with the limits of the machine, measured in the same
// session.
//
// A limit is a process that does the least that any program would have to do for the same result:
// copy the bytes, write them, compress them, inflate them, or create the files. Runs and limits
// take turns, so that a machine whose speed drifts slows both; medians and the median of the ratios
// of neighbours are printed. Outputs go to a tmpfs, where fsync costs nothing, but for the durable
// contests, which go to a disk. The start-up is held against an empty Go program, the size of the
// program against the project's aim.
//
//	go run ./test/bench -binary bin/idxport -data data
//	go run ./test/bench -scale                        # time and memory of 1 to 8 GiB
//	go run ./test/bench -write test/bench/RESULTS.md  # writes the tables, keeps the notes
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
	"strconv"
	"strings"
	"syscall"
)

// settings are the flags.
type settings struct {
	binary, self     string
	data, tmp, disk  string
	runs             int
	only             string
	bigGiB           float64
	sizes            string
	jsonPath, write  string
	scale, withLarge bool
}

func main() {
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.binary, "binary", "bin/idxport", "the program to measure")
	flag.StringVar(&s.data, "data", "data", "folder with mnist/ and fashion-mnist/ (see make data)")
	flag.IntVar(&s.runs, "n", 7, "runs of each")
	flag.StringVar(&s.tmp, "tmp", "/dev/shm", "where outputs go: a tmpfs")
	flag.StringVar(&s.disk, "disk", ".", "where outputs of durable contests go: a disk")
	flag.StringVar(&s.only, "only", "", "measure only the contests whose names contain this")
	flag.Float64Var(&s.bigGiB, "big", 2, "size of the large inputs in GiB")
	flag.BoolVar(&s.withLarge, "large", true, "measure the large inputs too")
	flag.StringVar(&s.jsonPath, "json", "", "write the results to this file too")
	flag.StringVar(&s.write, "write", "", "put the results into this file too, between the markers that it has for them")
	flag.BoolVar(&s.scale, "scale", false, "measure time and memory over the size of the input instead")
	flag.StringVar(&s.sizes, "sizes", "1,2,4,8", "sizes of the inputs of -scale in GiB")
	limit := flag.String("limit", "", "internal: be the limit of this name")
	flag.Parse()
	if *limit != "" {
		if err := limits[*limit](flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	// Through the deferred removals: files on a tmpfs are memory.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := s.measure(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// measure holds the contests, or draws the scale curve, and reports.
func (s *settings) measure(ctx context.Context) (err error) {
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	if s.binary, err = filepath.Abs(s.binary); err != nil {
		return err
	}
	sizes, err := s.scaleSizes()
	if err != nil {
		return err
	}
	chosen := s.chosen()
	if err := s.check(chosen, sizes); err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.tmp, folderPrefix+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	all := results{Session: s.session(ctx)}
	if s.scale {
		all.Scale, err = s.curve(ctx, work, sizes)
	} else {
		err = s.contests(ctx, &all, chosen, work)
	}
	if err != nil {
		return err
	}
	all.Session.Floor = ownPeak() // it only grows
	if err := s.writeJSON(all); err != nil {
		return err
	}
	return s.writeMarkdown(all)
}

// contests holds the chosen contests, then measures the start-up and the size.
func (s *settings) contests(ctx context.Context, all *results, chosen []contest, work string) error {
	if len(chosen) > 0 {
		fmt.Println(contestHead)
	}
	for i, c := range chosen {
		if c.large != "" {
			if err := s.input(ctx, work, c.large, gib(s.bigGiB)); err != nil {
				return err
			}
		}
		r, err := s.hold(ctx, c, work)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		all.Contests = append(all.Contests, r)
		fmt.Println(r.text())
		if c.large != "" && (i == len(chosen)-1 || chosen[i+1].large != c.large) {
			if err := os.Remove(inputPath(work, c.large)); err != nil { // makes room for the next
				return err
			}
		}
	}
	if !strings.Contains(startName, s.only) {
		return nil
	}
	begun, err := s.start(ctx, work)
	if err != nil {
		return err
	}
	all.Start = &begun
	fmt.Printf("\n%s\n%s\n", startHead, begun.text())
	size, err := s.size()
	if err != nil {
		return err
	}
	all.Size = &size
	fmt.Printf("\n%s\n%s\n", sizeHead, size.text())
	return nil
}

// chosen are the contests that the flags ask for; -scale holds none.
func (s *settings) chosen() []contest {
	var chosen []contest
	for _, c := range contests {
		c.Name = strings.ReplaceAll(c.Name, "{big}", gibText(s.bigGiB))
		if !s.scale && strings.Contains(c.Name, s.only) && (c.large == "" || s.withLarge) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// scaleSizes reads -sizes; nil without -scale.
func (s *settings) scaleSizes() ([]float64, error) {
	if !s.scale {
		return nil, nil
	}
	var sizes []float64
	for text := range strings.SplitSeq(s.sizes, ",") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("-sizes %s: found %q, expected GiB separated by commas", s.sizes, text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// paths fills in the placeholders of a command; out is its empty folder.
func (s *settings) paths(work, out string) *strings.Replacer {
	return strings.NewReplacer("{mnist}", filepath.Join(s.data, "mnist"), "{fashion}", filepath.Join(s.data, "fashion-mnist"),
		"{work}", work, "{out}", out)
}
