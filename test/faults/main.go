//go:build linux && amd64

// Command faults runs the real program under faults: killed, failing and lying system calls, power
// cuts, full file systems, signals, other runs at once, inputs that change. See README.md.
//
//	go run ./test/faults -binary bin/idxport           # as root, or skips are counted
//	go run ./test/faults -quick                        # the part for CI, in four minutes
//	go run ./test/faults -only kill,power -v           # some sections
//	go run ./test/faults -write test/faults/RESULTS.md # writes the tables
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A harness has the settings of a run and its results.
type harness struct {
	binary  string
	data    string // a folder with images and labels, named as those of MNIST's test split
	tmp     string // of this run
	quick   bool
	verbose bool
	slots   chan struct{} // one for each run at a time

	known map[string]*bench // by scenario and state

	mu   sync.Mutex
	rows []*row
}

// A section is a table of rows.
type section struct {
	name, title string
	run         func(h *harness, title string) error
}

var sections = []section{
	{"kill", "Killed", func(h *harness, title string) error { return h.sweepModes(title, kills) }},
	{"errors", "System calls that fail", func(h *harness, title string) error { return h.sweepModes(title, failures) }},
	{"signals", "Signals", func(h *harness, title string) error { return h.sweepModes(title, signals) }},
	{"power", "Power cut", (*harness).powerCuts},
	{"limits", "Full file systems", (*harness).limits},
	{"races", "Other runs and readers", (*harness).races},
	{"inputs", "Inputs that change", (*harness).changingInputs},
}

func main() {
	log.SetFlags(0)
	h := &harness{known: map[string]*bench{}}
	flag.StringVar(&h.binary, "binary", "bin/idxport", "the program")
	flag.BoolVar(&h.quick, "quick", false, "fewer formats, states and rounds")
	flag.BoolVar(&h.verbose, "v", false, "print each row when it begins")
	parent := flag.String("tmp", "/dev/shm", "where to work: a tmpfs is fastest")
	only := flag.String("only", "", "run only these sections, separated by commas")
	write := flag.String("write", "", "write the tables of all sections to this file, too")
	flag.Parse()
	wrong, err := h.main(*parent, *only, *write)
	if err != nil {
		log.Fatal(err)
	}
	if wrong > 0 {
		log.Fatalf("%d wrong outcomes", wrong)
	}
}

// main runs the sections and returns the number of wrong outcomes.
func (h *harness) main(parent, only, write string) (int, error) {
	if write != "" && only != "" {
		return 0, errors.New("-write replaces all tables and cannot be combined with -only")
	}
	syscall.Umask(0o022)
	tmp, err := os.MkdirTemp(parent, "faults-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	if h.tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return 0, err
	}
	if err := h.settle(); err != nil {
		return 0, err
	}
	caught := make(chan os.Signal, 1) // also so that the programs do not inherit signals that a shell ignores
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-caught
		h.unmountAll()
		for os.RemoveAll(tmp) != nil { // runs are still making files
		}
		log.Fatal(s)
	}()
	h.slots = make(chan struct{}, 2*runtime.NumCPU()) // half of the time a run waits for the disk
	begun := time.Now()
	for _, s := range sections {
		if only == "" || slices.Contains(strings.Split(only, ","), s.name) {
			if err := s.run(h, s.title); err != nil {
				return 0, fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	if len(h.rows) == 0 {
		return 0, errors.New("no section of that name")
	}
	text, wrong := h.tables(time.Since(begun))
	fmt.Println(text)
	if write == "" {
		return wrong, nil
	}
	return wrong, writeTables(write, text)
}

// someRows is the number of rows of most inputs. It is small, as there are tens of thousands of
// runs.
const someRows = 16

// settle copies the program to a folder where it does not change, and makes the inputs.
func (h *harness) settle() error {
	program := filepath.Join(h.tmp, "idxport")
	content, err := os.ReadFile(h.binary)
	if err == nil {
		err = os.WriteFile(program, content, 0o755)
	}
	h.binary, h.data = program, filepath.Join(h.tmp, "data")
	const side = 3000 // of records that are too large to be shuffled in memory
	return errors.Join(err, os.Mkdir(h.data, 0o755),
		writeIDX(filepath.Join(h.data, "t10k-images-idx3-ubyte.gz"), noise(), someRows, 28, 28),
		writeIDX(filepath.Join(h.data, "t10k-labels-idx1-ubyte.gz"), divided(1), someRows),
		writeIDX(h.large(), divided(side*side), 6, side, side))
}

// large is the path of a small file with records of 9 MB, each of one value.
func (h *harness) large() string { return filepath.Join(h.tmp, "large-idx3-ubyte.gz") }

// divided returns the values of elements that are the same n times.
func divided(n int) func(int) byte { return func(i int) byte { return byte(i / n % 10) } }

// noise returns the values of elements that hardly compress.
func noise() func(int) byte {
	x := uint32(1)
	return func(int) byte {
		x = x*1664525 + 1013904223 // Numerical Recipes' generator
		return byte(x >> 24)
	}
}

// writeIDX writes an IDX file of unsigned bytes, compressed if its name ends with .gz. value is
// called for each element in order.
func writeIDX(path string, value func(i int) byte, shape ...int) error {
	content, elements := []byte{0, 0, 8, byte(len(shape))}, 1
	for _, n := range shape {
		content = binary.BigEndian.AppendUint32(content, uint32(n))
		elements *= n
	}
	for i := range elements {
		content = append(content, value(i))
	}
	if filepath.Ext(path) == ".gz" {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(content) // to memory
		z.Close()
		content = packed.Bytes()
	}
	return os.WriteFile(path, content, 0o644)
}

// inParallel calls work for each of the jobs, a few at a time, and returns the first error.
func inParallel[J any](h *harness, jobs []J, work func(J) error) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for _, job := range jobs {
		h.slots <- struct{}{}
		group.Go(func() {
			defer func() { <-h.slots }()
			if err := work(job); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	group.Wait()
	return first
}
