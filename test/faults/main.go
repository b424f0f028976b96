//go:build linux && amd64

// Command faults runs the real program under faults: killed, failing and lying system calls, full
// and read-only file systems, power cuts, signals, too little memory, other runs at once, inputs
// that change. See README.md.
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
	"io"
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
	data    string // images and labels of Fashion-MNIST
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
	unit        string // what one run of the program is counted as
	run         func(*harness) error
}

var sections = []section{
	{name: "kill", title: "Killed", unit: "kill points", run: (*harness).kills},
	{name: "errors", title: "System calls that fail", unit: "failing calls", run: (*harness).failures},
	{name: "power", title: "Power cut", unit: "power cuts", run: (*harness).powerCuts},
	{name: "limits", title: limitsTitle, unit: "runs at a limit", run: (*harness).limits},
	{name: "memory", title: "Too little memory", unit: "runs at a limit", run: (*harness).memory},
	{name: "signals", title: "Signals", unit: "signals", run: (*harness).signals},
	{name: "races", title: "Other runs and readers", unit: "rounds of concurrent runs", run: (*harness).races},
	{name: "inputs", title: inputsTitle, unit: "changed inputs", run: (*harness).changingInputs},
}

func main() {
	log.SetFlags(0)
	h := &harness{known: map[string]*bench{}}
	flag.StringVar(&h.binary, "binary", "bin/idxport", "the program")
	flag.StringVar(&h.data, "data", "testdata/fashion-mnist", "folder with the small Fashion-MNIST files")
	flag.BoolVar(&h.quick, "quick", false, "fewer formats, states and rounds")
	flag.BoolVar(&h.verbose, "v", false, "print each row when it begins")
	parent := flag.String("tmp", "/dev/shm", "where to work: a tmpfs is fastest")
	only := flag.String("only", "", "run only these sections, separated by commas")
	write := flag.String("write", "", "write the tables to this file too, and keep those of other sections")
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
	for _, path := range []*string{&h.binary, &h.data} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return 0, err
		}
		if *path, err = filepath.EvalSymlinks(absolute); err != nil {
			return 0, err
		}
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
	if err := h.runSections(only, write); err != nil {
		return 0, err
	}
	wrong := 0
	for _, r := range h.rows {
		wrong += r.wrong
	}
	return wrong, nil
}

// runSections runs the sections named in only, or all, and writes their tables to the file write,
// unless that is empty.
func (h *harness) runSections(only, write string) error {
	for _, s := range sections {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		begun := time.Now()
		if err := s.run(h); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		table := h.table(s.title, time.Since(begun))
		fmt.Println(table)
		if write != "" {
			if err := writeTable(write, s.name, table); err != nil {
				return err
			}
		}
	}
	if len(h.rows) == 0 {
		return errors.New("no section of that name")
	}
	if write == "" || only != "" {
		return nil
	}
	return writeTable(write, "summary", h.summary())
}

// settle copies the program and its inputs to a folder that other users can read and where they do
// not change.
func (h *harness) settle() error {
	if err := os.Chmod(h.tmp, 0o755); err != nil {
		return err
	}
	program := filepath.Join(h.tmp, "idxport")
	content, err := os.ReadFile(h.binary)
	if err == nil {
		err = os.WriteFile(program, content, 0o755)
	}
	if err != nil {
		return err
	}
	data := filepath.Join(h.tmp, "fashion-mnist")
	if err := os.Mkdir(data, 0o755); err != nil {
		return err
	}
	for name, record := range map[string]int{
		"train-images-idx3-ubyte": 784, "train-labels-idx1-ubyte": 1, "t10k-images-idx3-ubyte": 784, "t10k-labels-idx1-ubyte": 1,
	} {
		if err := shorten(filepath.Join(h.data, name+".gz"), filepath.Join(data, name+".gz"), record); err != nil {
			return err
		}
	}
	h.binary, h.data = program, data
	return writeLarge(h.large())
}

// large is the path of a small file with records that are too large to be shuffled in memory.
func (h *harness) large() string { return filepath.Join(h.tmp, "large-idx3-ubyte.gz") }

// writeLarge writes six records of 9 MB, nearly all zeros.
func writeLarge(path string) error {
	const rows, side = 6, 3000
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte{0, 0, 8, 3, 0, 0, 0, rows, 0, 0, side >> 8, side & 0xff, 0, 0, side >> 8, side & 0xff})
	record := make([]byte, side*side)
	for row := byte(0); row < rows && err == nil; row++ {
		record[0] = row
		_, err = z.Write(record)
	}
	return errors.Join(err, z.Close(), f.Close())
}

// someRows is the number of rows of the inputs. It is small, as there are tens of thousands of
// runs.
const someRows = 16

// shorten writes the first rows of an IDX file, of record bytes each.
func shorten(from, to string, record int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	header := make([]byte, 8) // magic and count; further dimensions follow
	if _, err := io.ReadFull(unzipped, header); err != nil {
		return err
	}
	rest := make([]byte, 4*(int(header[3])-1)+someRows*record)
	if _, err := io.ReadFull(unzipped, rest); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(header[4:], someRows)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(append(header, rest...)) // to memory
	z.Close()
	return os.WriteFile(to, packed.Bytes(), 0o644)
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
