//go:build linux && amd64

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// What the module's own tests find in their full length has a place in the tables too: damaged
// inputs and fuzzing.

var (
	testSpeaks = regexp.MustCompile(`^=== \w+ +(\w+)`)
	caseFailed = regexp.MustCompile(`^ +--- FAIL: (\w+)/`)
	damageTold = regexp.MustCompile(`: (\d+) cuts, (\d+) flips$`)
	fuzzBegan  = regexp.MustCompile(`^== (\S+) (\S+)`)
	fuzzTold   = regexp.MustCompile(`execs: (\d+) `)
)

// damages runs the tests that cut small inputs of every kind at every byte and flip every bit of
// them. A case is an input.
func (h *harness) damages() error {
	rows := map[string]*row{}
	var cuts, flips int
	of := func(test string) *row {
		if rows[test] == nil {
			rows[test] = h.row("Damaged inputs", test)
		}
		return rows[test]
	}
	test := ""
	_, err := h.follow(func(line string) {
		if m := testSpeaks.FindStringSubmatch(line); m != nil {
			test = m[1]
		}
		if m := caseFailed.FindStringSubmatch(line); m != nil {
			of(m[1]).wrong++
		}
		if m := damageTold.FindStringSubmatch(line); m != nil {
			current := of(test)
			c, _ := strconv.Atoi(m[1]) // digits
			f, _ := strconv.Atoi(m[2]) // likewise
			current.cases++
			current.runs += c + f
			cuts, flips = cuts+c, flips+f
		}
	}, "go", "test", "-count=1", "-timeout=1h", "-v", "-run=^TestDamaged", "./cmd/idxport", "-exhaustive")
	if err != nil || len(rows) == 0 {
		h.row("Damaged inputs", "the tests as a whole").add("go test", []string{"failed"})
	}
	h.remark("Damaged inputs", "%d of these were cut short, of %d one bit was flipped.", cuts, flips)
	return nil
}

// fuzzing runs every fuzz target for h.fuzzTime. A case is a target.
func (h *harness) fuzzing() error {
	var current *row
	last := 0 // executions of the current target, printed every few seconds
	end := func() {
		if current != nil {
			current.runs, last = last, 0
		}
	}
	out, err := h.follow(func(line string) {
		if m := fuzzBegan.FindStringSubmatch(line); m != nil {
			end()
			current = h.row("Fuzzing", strings.TrimPrefix(m[1], "./")+" "+m[2])
			current.addCase()
		}
		if m := fuzzTold.FindStringSubmatch(line); m != nil {
			last, _ = strconv.Atoi(m[1]) // digits
		}
	}, "test/fuzz", h.fuzzTime)
	end()
	if err != nil && current != nil {
		current.add("test/fuzz", []string{out})
		return nil
	}
	return err
}

// follow runs a program, calls line for each line that it prints, and returns the end of what it
// printed.
func (h *harness) follow(line func(string), name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	var tail bytes.Buffer
	r, w := io.Pipe()
	command.Stdout, command.Stderr = w, w
	if err := command.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() {
		err := command.Wait()
		w.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line(lines.Text())
		if h.verbose {
			os.Stderr.Write(append(lines.Bytes(), '\n'))
		}
		if tail.Len() > 1<<14 {
			tail.Reset()
		}
		tail.Write(append(lines.Bytes(), '\n'))
	}
	io.Copy(io.Discard, r) // a line that is too long
	return tail.String(), <-ended
}
