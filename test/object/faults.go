//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/idxport/idxport/test/object/proxy"
)

// A plan is the disturbance of one upload.
type plan struct {
	kind      string
	fault     proxy.Fault    // of stays and passes
	signal    syscall.Signal // of killed
	request   int64          // the first one that is disturbed, from 1
	overwrite bool
}

// passing are faults that a new attempt may overcome.
var passing = []proxy.Fault{
	proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall, proxy.Lost, proxy.LostError, proxy.LostStall,
}

// staying are faults of all requests from one on.
var staying = []proxy.Fault{proxy.Error500, proxy.Reset, proxy.Denied403, proxy.Stall}

// plans are the uploads of a run: the same for the same seed.
func (t *tests) plans() []plan {
	random := rand.New(rand.NewPCG(t.seed, 0))
	all := make([]plan, t.rounds)
	for i := range all {
		p := plan{fault: passing[random.IntN(len(passing))], request: 1 + random.Int64N(7)}
		p.overwrite = random.IntN(2) == 0
		switch i % 5 {
		case 0, 1:
			p.kind = "passes"
		case 2:
			p.kind = "killed"
			p.signal = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[i/5%3]
		case 3:
			p.kind, p.fault = "stays", staying[random.IntN(len(staying))]
		case 4:
			p.kind, p.fault = "taken", proxy.Refused412
		}
		all[i] = p
	}
	return all
}

// An upload is one run of the program through a proxy that follows a plan.
type upload struct {
	plan
	t        *tests
	key      string
	expected []byte // what the program makes
	seen     atomic.Int64
	closed   atomic.Bool // the last request was sent
	process  atomic.Pointer[os.Process]
}

func (u *upload) String() string {
	return fmt.Sprintf("%s, %s %v at request %d, overwrite %v", u.key, u.kind, u.fault, u.request, u.overwrite)
}

// next is the fault of a request. Faults that pass hit two requests.
func (u *upload) next(r *http.Request) proxy.Fault {
	n := u.seen.Add(1)
	if isLast(r) {
		u.closed.Store(true)
	}
	switch u.kind {
	case "passes":
		if n == u.request || n == u.request+1 {
			return u.fault
		}
	case "killed":
		if n == u.request {
			if p := u.process.Load(); p != nil {
				_ = p.Signal(u.signal)
			}
			return proxy.Stall
		}
	case "stays":
		if n >= u.request && r.Method != http.MethodDelete && r.Method != http.MethodGet { // the program may clean up
			return u.fault
		}
	case "taken":
		if isLast(r) {
			return u.fault
		}
	}
	return proxy.None
}

// old is an object that some uploads replace.
var old = []byte("an older object")

// faults runs all uploads, several at a time.
func (t *tests) faults() {
	t.ends(0, "convert", t.raw(files[2]), t.raw(files[3]), "-o", t.local("expected.csv"))
	expected, err := os.ReadFile(t.local("expected.csv"))
	if err != nil {
		t.fail("%v", err)
		return
	}
	kinds, places := map[string]int{}, make(chan struct{}, t.at)
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i, p := range t.plans() {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			u := &upload{plan: p, t: t, key: fmt.Sprintf("faults/%03d.csv", i), expected: expected}
			outcome := u.run()
			mu.Lock()
			defer mu.Unlock()
			kinds[outcome]++
		})
	}
	wait.Wait()
	for outcome, n := range kinds {
		fmt.Printf("   %3d %s\n", n, outcome)
	}
}

// run makes one upload, while the object is watched, and returns how it ended.
func (u *upload) run() string {
	t := u.t
	if u.overwrite {
		if err := t.server.put(t.ctx, u.key, old, ""); err != nil {
			t.fail("%v", err)
		}
	}
	front, there := behind(t.server, u.next)
	defer func() { front.CloseClientConnections(); front.Close() }()
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() { u.watch(done) })
	args := []string{"convert", t.raw(files[2]), t.raw(files[3]), "-o", there.object(u.key, "stall=700ms")}
	if u.overwrite {
		args = append(args, "--overwrite")
	}
	r := t.run(there, func(p *os.Process) { u.process.Store(p) }, args...)
	close(done)
	wait.Wait()
	return u.judge(r)
}

// watch reads the object until done is closed: it must be complete at all times. It reads often,
// but leaves the server time for other requests.
func (u *upload) watch(done <-chan struct{}) {
	for {
		begin := time.Now()
		u.look()
		select {
		case <-done:
			return
		case <-time.After(max(2*time.Millisecond, 5*time.Since(begin))):
		}
	}
}

// look returns which object exists: none, the old or the new one. Anything else is a failure.
func (u *upload) look() string {
	text, err := u.t.server.get(u.key)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !u.overwrite:
		return "nothing"
	case err == nil && bytes.Equal(text, old) && u.overwrite:
		return "old"
	case err == nil && bytes.Equal(text, u.expected):
		return "new"
	}
	u.t.fail("%s: %d bytes are seen, %v, expected the whole of the old or the new", u, len(text), err)
	return "broken"
}

// judge compares the object with the exit code, and looks for parts that are left.
func (u *upload) judge(r result) string {
	t := u.t
	found := u.look()
	outcome := fmt.Sprintf("%s, exit %d, %s object", u.kind, r.code, found)
	problem := ""
	pieces, err := t.server.left(t.ctx, u.key)
	switch {
	case err != nil:
		problem = err.Error()
	case r.code == 0 && found != "new":
		problem = "exit 0 without the new object"
	case u.kind == "passes" && r.code != 0:
		problem = "a passing fault was not overcome"
	case u.kind == "stays" && u.fault == proxy.Denied403 && r.code != 77 && r.code != 0:
		problem = "expected 77"
	case u.kind == "stays" && u.fault != proxy.Denied403 && r.code != 74 && r.code != 0:
		problem = "expected 74"
	case u.kind == "taken" && r.code != 73:
		problem = "expected 73"
	case u.kind == "killed" && u.signal != syscall.SIGKILL && r.code != 128+int(u.signal) && r.code != 0:
		problem = fmt.Sprintf("expected %d", 128+int(u.signal))
	case u.kind == "killed" && r.code != 0 && found == "new" && !u.closed.Load():
		problem = "the object exists, but the last request was not sent"
	case pieces > 0 && r.code != 128+int(syscall.SIGKILL):
		problem = fmt.Sprintf("%d parts are left", pieces)
	}
	if pieces > 0 {
		outcome += ", parts left for a lifecycle rule"
	}
	if err := t.server.clean(t.ctx, u.key); err != nil {
		problem += " " + err.Error()
	}
	if problem != "" {
		t.fail("%s: %s: %s: %s", u, outcome, problem, r.output)
		return outcome
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed++
	return outcome
}
