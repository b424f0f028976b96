//go:build !lean

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/test/object/fake"
)

// A gate forwards requests to a server. The first request for which stops reports true waits until
// opened is closed.
type gate struct {
	server  *fake.Server
	stops   func(r *http.Request) bool
	stopped atomic.Bool
	arrived chan struct{} // closed when that request arrives
	opened  chan struct{}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.stops != nil && g.stops(r) && g.stopped.CompareAndSwap(false, true) {
		close(g.arrived)
		<-g.opened
	}
	g.server.ServeHTTP(w, r)
}

// reach returns a store that uses the server through a gate of its own.
func reach(t *testing.T, server *fake.Server, stops func(r *http.Request) bool) (*object.Store, *gate) {
	t.Helper()
	g := &gate{server: server, stops: stops, arrived: make(chan struct{}), opened: make(chan struct{})}
	front := httptest.NewServer(g)
	t.Cleanup(front.Close)
	s := &object.Store{}
	if _, err := s.ParseArg("s3://bkt/?anonymous=true&use_path_style=true&endpoint=" + url.QueryEscape(front.URL)); err != nil {
		t.Fatal(err)
	}
	return s, g
}

// table returns a plan for a table of ten rows in object storage, with all parts made.
func table(t *testing.T, objects *object.Store, perPart int64) *Plan {
	t.Helper()
	input := filepath.Join(t.TempDir(), "in.idx")
	write(t, input, "HEAD"+strings.Repeat("abcdefghij", 3))
	target := Target{Path: "s3://bkt/out/train.csv", Dataset: "none", Format: "csv", Extension: ".csv", Rows: 10, Inputs: []Input{{Path: input, Column: "x", Bytes: 34}}}
	if err := target.Cut(t.Context(), perPart, 0, threes); err != nil {
		t.Fatal(err)
	}
	p := &Plan{Tool: "idxport 1", Objects: objects, Targets: []Target{target}}
	p.Complete(time.Unix(0, 0))
	makeParts(t, p)
	return p
}

func makeParts(t *testing.T, p *Plan) {
	t.Helper()
	for i := range p.Parts() {
		target, part, err := p.Part(i)
		if err != nil {
			t.Fatal(err)
		}
		name, err := p.Attempt(target, part)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint("part ", i)
		w, err := p.Objects.Create(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		upload, err := w.Stage()
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		if err := p.Deliver(t.Context(), target, part, name, Result{Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), Upload: &upload}); err != nil {
			t.Fatal(err)
		}
	}
}

// visibleOf returns how many parts of the plan are visible, and whether _SUCCESS is.
func visibleOf(t *testing.T, server *fake.Server, p *Plan) (parts int, marked bool) {
	t.Helper()
	for _, key := range server.Keys() {
		name, ok := strings.CutPrefix(key, "out/train.csv/")
		switch {
		case ok && name == success:
			marked = true
		case ok && strings.Contains(name, p.short()):
			parts++
		}
	}
	return parts, marked
}

func completes(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func puts(ending string) func(r *http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ending)
	}
}

// TestTwoPlansOfOneTarget runs the commit of one plan while that of another is stopped at some
// request: the parts of only one of them become visible, and the other fails.
func TestTwoPlansOfOneTarget(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]func(r *http.Request) bool{
		"at its lease": puts(".idxport-plan"), "at its first part": completes, "at _SUCCESS": puts(success),
		"at its listing": func(r *http.Request) bool {
			return r.Method == http.MethodGet && r.URL.Query().Get("prefix") == "out/train.csv/"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fake.New()
			direct, _ := reach(t, server, nil)
			a := table(t, direct, 5)
			b := table(t, direct, 4)
			slow, g := reach(t, server, stops)
			b.Objects = slow
			ended := make(chan error)
			go func() { _, err := b.Commit(t.Context()); ended <- err }()
			<-g.arrived
			_, errA := a.Commit(t.Context())
			close(g.opened)
			errB := <-ended
			if _, err := b.Commit(t.Context()); err == nil && errB != nil {
				errB = nil // it had the lease, and only had to be run again
			}
			partsA, marked := visibleOf(t, server, a)
			partsB, _ := visibleOf(t, server, b)
			switch {
			case (errA == nil) == (errB == nil), !marked:
				t.Errorf("found %v and %v, expected that one succeeds", errA, errB)
			case errA == nil && (partsA != 2 || partsB != 0 || !errors.Is(errB, fault.Exists)), errB == nil && (partsA != 0 || partsB != 3 || !errors.Is(errA, fault.Exists)):
				t.Errorf("found %d parts of A (%v) and %d of B (%v)", partsA, errA, partsB, errB)
			}
		})
	}
}

// TestAbortBesideCommit runs an abort while a commit is stopped at some request: the table is
// visible if and only if the commit succeeds.
func TestAbortBesideCommit(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]func(r *http.Request) bool{
		"at its lease": puts(".idxport-plan"), "at its first part": completes, "at _SUCCESS": puts(success),
		"at its second read of the lease": func(r *http.Request) bool {
			return r.Method == http.MethodHead && strings.HasSuffix(r.URL.Path, ".idxport-plan")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fake.New()
			direct, _ := reach(t, server, nil)
			p := table(t, direct, 4)
			slow, g := reach(t, server, stops)
			committing := *p
			committing.Objects = slow
			ended := make(chan error)
			go func() { _, err := committing.Commit(t.Context()); ended <- err }()
			<-g.arrived
			if err := p.Abort(t.Context()); err != nil {
				t.Error(err)
			}
			close(g.opened)
			err := <-ended
			parts, marked := visibleOf(t, server, p)
			if err == nil && (parts != 3 || !marked) || err != nil && marked {
				t.Errorf("commit ended with %v; found %d parts, _SUCCESS: %v", err, parts, marked)
			}
			if err := p.Abort(t.Context()); err != nil {
				t.Error(err)
			}
			if parts, marked := visibleOf(t, server, p); parts > 0 != marked || server.Left() > 0 || slices.ContainsFunc(server.Keys(), func(key string) bool { return strings.Contains(key, "idxport-plan") }) {
				t.Errorf("after another abort: found %d parts, _SUCCESS: %v, %v, %d uploads", parts, marked, server.Keys(), server.Left())
			}
		})
	}
}

// TestAbortAndCommitInTurns stops a commit before its _SUCCESS, and an abort before the first part
// that it removes: whichever continues first, the commit fails.
func TestAbortAndCommitInTurns(t *testing.T) {
	t.Parallel()
	for _, commitFirst := range []bool{true, false} {
		server := fake.New()
		direct, _ := reach(t, server, nil)
		p := table(t, direct, 4)
		committing, aborting := *p, *p
		var commitGate, abortGate *gate
		committing.Objects, commitGate = reach(t, server, puts(success))
		aborting.Objects, abortGate = reach(t, server, func(r *http.Request) bool {
			return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/part-") && strings.HasSuffix(r.URL.Path, ".csv") && !r.URL.Query().Has("uploadId")
		})
		committed, ended := make(chan error, 1), make(chan error, 1)
		go func() { _, err := committing.Commit(t.Context()); committed <- err }()
		<-commitGate.arrived
		go func() { ended <- aborting.Abort(t.Context()) }()
		<-abortGate.arrived
		var commitErr, abortErr error
		if commitFirst {
			close(commitGate.opened)
			commitErr = <-committed
			close(abortGate.opened)
			abortErr = <-ended
		} else {
			close(abortGate.opened)
			abortErr = <-ended
			close(commitGate.opened)
			commitErr = <-committed
		}
		parts, marked := visibleOf(t, server, p)
		if commitErr == nil || abortErr != nil || parts > 0 || marked {
			t.Errorf("commit first %v: commit ended with %v, abort with %v; found %d parts, _SUCCESS: %v", commitFirst, commitErr, abortErr, parts, marked)
		}
		makeParts(t, p)
		if _, err := p.Commit(t.Context()); err != nil {
			t.Errorf("anew: %v", err)
		}
	}
}

// TestStrangeLeases demands an error, and no waiting, for a lease that cannot be read.
func TestStrangeLeases(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"plan_id":"other","work":"commit"}`} {
		server := fake.New()
		direct, _ := reach(t, server, nil)
		p := table(t, direct, 4)
		server.Put("out/.train.csv.idxport-plan", []byte(text))
		if _, err := p.Commit(t.Context()); !errors.Is(err, fault.Exists) {
			t.Errorf("%q: found %v", text, err)
		}
		server.Remove("out/.train.csv.idxport-plan")
		if _, err := p.Commit(t.Context()); err != nil {
			t.Errorf("%q, removed: %v", text, err)
		}
	}
}

// TestForeignUploadsStay demands that commit and abort leave alone what does not belong to the
// plan, and that an abort leaves what was committed, even without its _SUCCESS.
func TestForeignUploadsStay(t *testing.T) {
	t.Parallel()
	server := fake.New()
	direct, _ := reach(t, server, nil)
	p := table(t, direct, 4)
	foreign := []string{"out/train.csv/_SUCCESS_of_another", "out/train.csv/" + p.FileName(&p.Targets[0], &p.Targets[0].Parts[0]) + ".bak", "out/train.csv/part-x"}
	for _, key := range foreign {
		w, err := direct.Create(t.Context(), "s3://bkt/"+key, false)
		if err == nil {
			_, err = w.Write([]byte("mine"))
		}
		if err == nil {
			_, err = w.Stage()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Put("out/train.csv/_metadata", []byte("of a reader"))
	if done, err := p.Committed(t.Context(), &p.Targets[0]); err != nil || !done {
		t.Errorf("with a file beside: %v, %v", done, err)
	}
	server.Remove("out/train.csv/_SUCCESS")
	if err := p.Abort(t.Context()); err != nil {
		t.Error(err)
	}
	if parts, _ := visibleOf(t, server, p); parts != 3 {
		t.Errorf("%d parts are left of what was committed", parts)
	}
	left := server.Uploads()
	slices.Sort(foreign)
	if !slices.Equal(left, foreign) {
		t.Errorf("found the uploads %v, expected %v", left, foreign)
	}
}

// TestAbortAfterCommit demands that an abort does nothing after a commit that was killed before it
// removed the results.
func TestAbortAfterCommit(t *testing.T) {
	t.Parallel()
	server := fake.New()
	direct, _ := reach(t, server, nil)
	p := table(t, direct, 4)
	results := map[string][]byte{}
	for _, key := range server.Keys() {
		text, err := direct.Get(t.Context(), "s3://bkt/"+key, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		results[key] = text
	}
	if _, err := p.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, text := range results {
		server.Put(key, text)
	}
	if err := p.Abort(t.Context()); err != nil {
		t.Error(err)
	}
	if parts, whole := visibleOf(t, server, p); parts != 3 || !whole || len(server.Keys()) != 4 {
		t.Errorf("found %d parts, _SUCCESS: %v, and %v", parts, whole, server.Keys())
	}
}
