//go:build linux

// Command bench compares whole runs of idxport with the limits of the machine, measured in the same session.
//
// A limit is a process that does the least that any program would have to do for the same result: copy the bytes, write them, compress
// them, or create the files. Runs and limits take turns, so that a machine whose speed drifts slows both; medians and their ratio are printed.
// Outputs go to a tmpfs, where fsync costs nothing.
//
//	go run ./test/bench -binary bin/idxport -data data
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// A contest is a run of idxport and the limit it is held against.
type contest struct {
	name  string
	run   []string // arguments of the program; {out} is an empty folder
	limit []string // a command; "self" is this program
	most  float64  // the ratio that the project promises
}

// contests are what is measured. {mnist} is the folder of MNIST's raw files.
var contests = []contest{
	{"arrow, MNIST train", []string{"convert", "{mnist}/train-images-idx3-ubyte", "-o", "{out}/x.arrow"},
		[]string{"cp", "{mnist}/train-images-idx3-ubyte", "{out}/x"}, 1.8},
	{"parquet uncompressed, MNIST train", []string{"convert", "{mnist}/train-images-idx3-ubyte", "-o", "{out}/x.parquet", "--compression", "none"},
		[]string{"cp", "{mnist}/train-images-idx3-ubyte", "{out}/x"}, 1.8},
	{"parquet zstd, MNIST train", []string{"convert", "{mnist}/train-images-idx3-ubyte", "-o", "{out}/x.parquet"},
		[]string{"self", "-limit", "compress", "{mnist}/train-images-idx3-ubyte", "{out}/x"}, 1.5},
	{"csv, MNIST train", []string{"convert", "{mnist}/train-images-idx3-ubyte", "{mnist}/train-labels-idx1-ubyte", "-o", "{out}/x.csv", "--csv-style", "pjreddie"},
		[]string{"self", "-limit", "write", "109575994", "{out}/x"}, 3},
	{"png, MNIST train", []string{"convert", "{mnist}/train-images-idx3-ubyte", "{mnist}/train-labels-idx1-ubyte", "-o", "png={out}/x"},
		[]string{"self", "-limit", "create", "60000", "{out}/x"}, 4},
}

func main() {
	log.SetFlags(0)
	binary := flag.String("binary", "bin/idxport", "the program to measure")
	data := flag.String("data", "data", "folder with mnist/ (see make data)")
	runs := flag.Int("n", 7, "runs of each")
	tmp := flag.String("tmp", "/dev/shm", "where outputs go: a tmpfs")
	only := flag.String("only", "", "measure only the contests whose names contain this")
	limit := flag.String("limit", "", "internal: be the limit of this name")
	flag.Parse()
	if *limit != "" {
		if err := limits[*limit](flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "contest\tidxport ms\tuser+sys ms\tpeak MB\tlimit ms\tratio\tpromised\t")
	for _, c := range contests {
		if !strings.Contains(c.name, *only) {
			continue
		}
		r, err := c.hold(*binary, self, filepath.Join(*data, "mnist"), *tmp, *runs)
		if err != nil {
			log.Fatalf("%s: %v", c.name, err)
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\t\n", c.name, r.run.wall, r.run.cpu, r.run.peak, r.limit.wall, r.ratio, c.most)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

// figures are those of one process, or the medians of several: milliseconds and megabytes.
type figures struct{ wall, cpu, peak float64 }

// result is what a contest came to. ratio is the median of the ratios of neighbouring runs.
type result struct {
	run, limit figures
	ratio      float64
}

// hold runs both sides in turn, once without counting.
func (c contest) hold(binary, self, mnist, tmp string, runs int) (result, error) {
	var ours, theirs []figures
	var ratios []float64
	for i := range runs + 1 {
		a, err := once(append([]string{binary}, append(slices.Clone(c.run), "--quiet")...), self, mnist, tmp)
		if err != nil {
			return result{}, err
		}
		b, err := once(c.limit, self, mnist, tmp)
		if err != nil {
			return result{}, err
		}
		if i > 0 {
			ours, theirs, ratios = append(ours, a), append(theirs, b), append(ratios, a.wall/b.wall)
		}
	}
	return result{medians(ours), medians(theirs), median(ratios)}, nil
}

// once runs a command with a fresh output folder and measures the process.
func once(command []string, self, mnist, tmp string) (f figures, err error) {
	out, err := os.MkdirTemp(tmp, "idxport-bench-*")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(out) // a leftover in a tmpfs is harmless
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = strings.NewReplacer("{mnist}", mnist, "{out}", out).Replace(a)
	}
	if args[0] == "self" {
		args[0] = self
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err = cmd.Run()
	f.wall = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		return f, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	f.cpu = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1000
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.peak = float64(usage.Maxrss) / 1000 // kB on Linux
	}
	return f, nil
}

func medians(all []figures) figures {
	of := func(get func(figures) float64) float64 {
		var values []float64
		for _, f := range all {
			values = append(values, get(f))
		}
		return median(values)
	}
	return figures{of(func(f figures) float64 { return f.wall }), of(func(f figures) float64 { return f.cpu }), of(func(f figures) float64 { return f.peak })}
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
