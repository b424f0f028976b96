//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/idxport/idxport/test/object/proxy"
)

// A table is made from the parts of a plan: inputs, plan and parts are objects, each part is made
// twice at once, and some of the runs are killed or disturbed by faults.
type table struct {
	t        *tests
	random   *rand.Rand
	prefix   string   // of its objects
	keys     []string // of the parts
	expected [][]byte // their contents
}

// tables makes as many tables as rounds.
func (t *tests) tables(rounds int) {
	for _, f := range []int{2, 3} {
		text, err := os.ReadFile(t.raw(files[f]))
		if err == nil {
			err = t.server.put(t.ctx, "tables/in/"+files[f], text, "")
		}
		if err != nil {
			t.fail("%v", err)
			return
		}
	}
	outcomes := map[string]int{}
	for i := range rounds {
		table := &table{t: t, random: rand.New(rand.NewPCG(t.seed, uint64(i))), prefix: fmt.Sprintf("tables/%03d/", i)}
		if err := table.round(outcomes); err != nil {
			t.fail("table %d: %v", i, err)
			continue
		}
		t.mu.Lock()
		t.passed++
		t.mu.Unlock()
	}
	for outcome, n := range outcomes {
		fmt.Printf("   %3d %s\n", n, outcome)
	}
}

// round makes one table; some are aborted and made again.
func (b *table) round(outcomes map[string]int) error {
	if err := b.plan(); err != nil {
		return err
	}
	done, watched := make(chan struct{}), make(chan error, 1)
	go func() { watched <- b.watch(done) }()
	err := b.make(outcomes)
	if err == nil && b.random.IntN(4) == 0 {
		err = b.abort()
		outcomes["abort"]++
	}
	if err == nil {
		err = b.commit(outcomes)
	}
	close(done)
	return errors.Join(err, <-watched)
}

// plan makes the plan, and the expected parts by local runs.
func (b *table) plan() error {
	rows := []int{2500, 5000}[b.random.IntN(2)] // parts of less and of more than one upload has
	if r := b.run(nil, "plan", b.url("tables/in/"), "-o", b.url(b.prefix), "--to", "csv", "--rows-per-part", fmt.Sprint(rows), "--plan", b.url(b.prefix+"plan.json")); r.code != 0 {
		return fmt.Errorf("plan: exit %d: %s", r.code, r.output)
	}
	text, err := b.t.server.get(b.prefix + "plan.json")
	if err != nil {
		return err
	}
	var made struct {
		ID      string `json:"plan_id"`
		Targets []struct {
			Parts []struct{ First, Last int }
		}
	}
	if err := json.Unmarshal(text, &made); err != nil || len(made.Targets) != 1 {
		return fmt.Errorf("the plan has %d targets, %w", len(made.Targets), err)
	}
	for i, part := range made.Targets[0].Parts {
		path := b.t.local(fmt.Sprintf("part-%d-%d.csv", part.First, part.Last))
		if _, err := os.Stat(path); err != nil {
			b.t.ends(0, "convert", b.t.raw(files[2]), b.t.raw(files[3]), "--rows", fmt.Sprintf("%d:%d", part.First, part.Last), "-o", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b.expected = append(b.expected, text)
		b.keys = append(b.keys, fmt.Sprintf("%stest.csv/part-%05d-%s.csv", b.prefix, i, made.ID[:8]))
	}
	return nil
}

// url is that of a key, without parameters, which the proxy's place adds.
func (b *table) url(key string) string { return "\x00" + key }

// run runs the program with or without faults; keys that url has marked become URLs of the proxy or
// of the server.
func (b *table) run(next func(*http.Request, *os.Process) proxy.Fault, args ...string) result {
	var process atomic.Pointer[os.Process]
	there := b.t.home
	if next != nil {
		_, front, place := behind(b.t.server, func(r *http.Request) proxy.Fault { return next(r, process.Load()) })
		defer func() { front.CloseClientConnections(); front.Close() }()
		there = place
	}
	for i, arg := range args {
		if key, ok := strings.CutPrefix(arg, "\x00"); ok {
			args[i] = there.object(key, "stall=700ms")
		}
	}
	return b.t.run(there, func(p *os.Process) { process.Store(p) }, args...)
}

// trouble chooses the disturbance of a run: none, passing faults, or a kill. kind is its name.
func (b *table) trouble() (kind string, next func(*http.Request, *os.Process) proxy.Fault) {
	from, fault := 1+b.random.Int64N(12), passing[b.random.IntN(len(passing))]
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM}[b.random.IntN(3)]
	var seen atomic.Int64
	switch b.random.IntN(3) {
	case 0:
		return "undisturbed", nil
	case 1:
		return "with faults", func(*http.Request, *os.Process) proxy.Fault {
			if n := seen.Add(1); n == from || n == from+1 {
				return fault
			}
			return proxy.None
		}
	}
	return "killed", func(_ *http.Request, p *os.Process) proxy.Fault {
		if seen.Add(1) == from && p != nil {
			_ = p.Signal(signal)
			return proxy.Stall
		}
		return proxy.None
	}
}

// expected reports whether a run may end so.
func expected(kind string, code int) bool {
	return code == 0 || kind == "killed" && (code == 128+int(syscall.SIGKILL) || code == 128+int(syscall.SIGTERM))
}

// make runs two attempts of every part, some at once, and then those that are missing.
func (b *table) make(outcomes map[string]int) error {
	var mu sync.Mutex
	var wait sync.WaitGroup
	var wrong []error
	places := make(chan struct{}, 2*b.t.at)
	for i := range 2 * len(b.keys) {
		kind, next := b.trouble()
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			r := b.run(next, "convert", "--plan", b.url(b.prefix+"plan.json"), "--part", fmt.Sprint(i/2))
			mu.Lock()
			defer mu.Unlock()
			outcomes[fmt.Sprintf("part %s, exit %d", kind, r.code)]++
			if !expected(kind, r.code) {
				wrong = append(wrong, fmt.Errorf("part %d %s: exit %d: %s", i/2, kind, r.code, r.output))
			}
		})
	}
	wait.Wait()
	return errors.Join(wrong...)
}

// commit publishes the table, although earlier commits are killed, and checks that it is right and
// stays so.
func (b *table) commit(outcomes map[string]int) error {
	for {
		kind, next := b.trouble()
		r := b.run(next, "commit", "--plan", b.url(b.prefix+"plan.json"))
		outcomes[fmt.Sprintf("commit %s, exit %d", kind, r.code)]++
		if r.code == 73 { // parts are missing
			for part := range b.keys {
				if r := b.run(nil, "convert", "--plan", b.url(b.prefix+"plan.json"), "--part", fmt.Sprint(part)); r.code != 0 {
					return fmt.Errorf("part %d at last: exit %d: %s", part, r.code, r.output)
				}
			}
			continue
		}
		if !expected(kind, r.code) {
			return fmt.Errorf("commit %s: exit %d: %s", kind, r.code, r.output)
		}
		if r.code == 0 {
			break
		}
	}
	for _, args := range [][]string{{"commit"}, {"convert", "--part", "0"}, {"abort"}, {"status"}} { // none of these changes it
		if r := b.run(nil, append(args, "--plan", b.url(b.prefix+"plan.json"))...); r.code != 0 {
			return fmt.Errorf("%s afterwards: exit %d: %s", args[0], r.code, r.output)
		}
	}
	if n, err := b.look(); err != nil || n != len(b.keys) {
		return fmt.Errorf("found %d parts of %d, %w", n, len(b.keys), err)
	}
	if _, err := b.t.server.get(b.prefix + "test.csv/_SUCCESS"); err != nil {
		return err
	}
	return b.nothingLeft()
}

// abort removes all parts; nothing may be left of them.
func (b *table) abort() error {
	if r := b.run(nil, "abort", "--plan", b.url(b.prefix+"plan.json")); r.code != 0 {
		return fmt.Errorf("abort: exit %d: %s", r.code, r.output)
	}
	if n, err := b.look(); err != nil || n != 0 {
		return fmt.Errorf("found %d parts after abort, %w", n, err)
	}
	return b.nothingLeft()
}

// nothingLeft demands that there are no uploads, no task results, and no lease.
func (b *table) nothingLeft() error {
	if _, err := b.t.server.get(b.prefix + ".test.csv.idxport-plan"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the lease is left, %w", err)
	}
	for i, key := range b.keys {
		if n, err := b.t.server.left(b.t.ctx, key); err != nil || n > 0 {
			return fmt.Errorf("%s: %d parts of uploads are left, %w", key, n, err)
		}
		id := strings.TrimSuffix(key[strings.LastIndexByte(key, '-')+1:], ".csv")
		task := fmt.Sprintf("%s.test.csv.idxport-plan-%s/tasks/part-%05d-%s.json", b.prefix, id, i, id)
		if _, err := b.t.server.get(task); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is left, %w", task, err)
		}
	}
	return nil
}

// watch reads the table until done is closed: parts are complete, and all exist if _SUCCESS does.
func (b *table) watch(done <-chan struct{}) error {
	for {
		_, err := b.t.server.get(b.prefix + "test.csv/_SUCCESS")
		n, lookErr := b.look()
		if err == nil && lookErr == nil && n < len(b.keys) {
			lookErr = fmt.Errorf("_SUCCESS exists with %d parts of %d", n, len(b.keys))
		}
		if lookErr != nil {
			return lookErr
		}
		select {
		case <-done:
			return nil
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// look counts the parts that exist, which must have the expected contents.
func (b *table) look() (n int, err error) {
	for i, key := range b.keys {
		text, err := b.t.server.get(key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return n, err
		case !bytes.Equal(text, b.expected[i]):
			return n, fmt.Errorf("%s has %d bytes, not the %d expected", key, len(text), len(b.expected[i]))
		default:
			n++
		}
	}
	return n, nil
}
