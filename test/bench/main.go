//go:build linux

// Command bench compares whole runs of idxport with the limits of the machine, measured in the same session.
//
// A limit is a process that does the least that any program would have to do for the same result: copy the bytes, write them, compress
// them, inflate them, or create the files. Runs and limits take turns, so that a machine whose speed drifts slows both; medians and the
// median of the ratios of neighbours are printed. Outputs go to a tmpfs, where fsync costs nothing, but for the durable contests, which go to a disk.
//
//	go run ./test/bench -binary bin/idxport -data data
//	go run ./test/bench -scale            # time and memory of inputs of 1, 2, 4 and 8 GiB
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// settings are the flags.
type settings struct {
	binary, self     string
	data, tmp, disk  string
	runs             int
	only             string
	bigGiB           int
	jsonPath         string
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
	flag.IntVar(&s.bigGiB, "big", 2, "size of the large inputs in GiB")
	flag.BoolVar(&s.withLarge, "large", true, "measure the large inputs too")
	flag.StringVar(&s.jsonPath, "json", "", "write the results to this file too")
	flag.BoolVar(&s.scale, "scale", false, "measure time and memory over the size of the input instead")
	limit := flag.String("limit", "", "internal: be the limit of this name")
	flag.Parse()
	if *limit != "" {
		if err := limits[*limit](flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := s.measure(); err != nil {
		log.Fatal(err)
	}
}

// measure holds the contests, or draws the scale curve.
func (s *settings) measure() (err error) {
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.tmp, "idxport-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // a leftover in a tmpfs is harmless
	if s.scale {
		return s.curve(work)
	}
	var results []result
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "contest\tidxport ms\tuser+sys ms\tpeak MB\tlimit ms\tratio\tpromised\t")
	for _, c := range contests {
		if !strings.Contains(c.Name, s.only) || c.large && !s.withLarge {
			continue
		}
		if c.large {
			if err := s.makeLarge(work); err != nil {
				return err
			}
		}
		r, err := s.hold(c, work)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		results = append(results, r)
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\t\n", c.Name, r.Run.Wall, r.Run.CPU, r.Run.Peak, r.Limit.Wall, r.Ratio, c.Most)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.jsonPath == "" {
		return nil
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.jsonPath, append(text, '\n'), 0o666)
}

// paths fills in the placeholders of a command; out is its empty folder.
func (s *settings) paths(work, out string) *strings.Replacer {
	return strings.NewReplacer("{mnist}", filepath.Join(s.data, "mnist"), "{fashion}", filepath.Join(s.data, "fashion-mnist"),
		"{work}", work, "{out}", out)
}
