package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
)

func TestSpec(t *testing.T) {
	t.Parallel()
	for want, indices := range map[string][]int{"": nil, "3": {3}, "3,7-9": {3, 7, 8, 9}, "0-2,4,6-7": {0, 1, 2, 4, 6, 7}} {
		if got := Spec(indices); got != want {
			t.Errorf("%v: found %q, expected %q", indices, got, want)
		}
	}
}

func TestShortSpec(t *testing.T) {
	t.Parallel()
	even := []int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}
	for want, indices := range map[string][]int{"0,2,4,6,8,10,12,14,16,18": even, "0,2,4,6,8,10,12,14,16,18,…": append(even, 20, 22)} {
		if got := shortSpec(indices); got != want {
			t.Errorf("%v: found %q, expected %q", indices, got, want)
		}
	}
}

// threes is the span of rows of three bytes behind a header of four bytes.
func threes(_ int, first, last int64) (from, to int64) { return 4 + 3*first, 4 + 3*last }

// work returns a plan for a table of ten rows of three bytes in four parts, and the folder that
// holds everything.
func work(t *testing.T) (*Plan, string) {
	t.Helper()
	dir := t.TempDir()
	input := filepath.Join(dir, "in.idx")
	write(t, input, "HEAD"+strings.Repeat("abcdefghij", 3))
	target := Target{Path: filepath.Join(dir, "out"), Dataset: "none", Format: "csv", Extension: ".csv", Rows: 10, Inputs: []Input{{Path: input, Column: "x", Bytes: 34}}}
	if err := target.Cut(t.Context(), 3, 0, threes); err != nil {
		t.Fatal(err)
	}
	p := &Plan{Tool: "idxport 1", Options: json.RawMessage(`{"layout":["list"]}`), Targets: []Target{target}}
	p.Complete(time.Unix(0, 0))
	return p, dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// deliver makes part i with the contents text.
func deliver(p *Plan, i int, text string) error {
	target, part, err := p.Part(i)
	if err != nil {
		return err
	}
	attempt, err := p.Attempt(target, part)
	if err == nil {
		err = os.WriteFile(attempt, []byte(text), 0o666)
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	return p.Deliver(context.Background(), target, part, attempt, Result{Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
}

// resultPath returns the path of the result of part i.
func resultPath(p *Plan, i int) string {
	t := &p.Targets[0]
	return filepath.Join(p.staging(t), resultsFolder, p.resultName(t, &t.Parts[i]))
}

// resultText returns the result of part i.
func resultText(t *testing.T, p *Plan, i int) string {
	t.Helper()
	text, err := os.ReadFile(resultPath(p, i))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// deliverAll makes all parts.
func deliverAll(t *testing.T, p *Plan) {
	t.Helper()
	for i := range p.Parts() {
		if err := deliver(p, i, fmt.Sprint("part ", i)); err != nil {
			t.Fatal(err)
		}
	}
}

// shown returns the names and contents of the target's files.
func shown(t *testing.T, p *Plan) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(p.Targets[0].Path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(p.Targets[0].Path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s=%s\n", strings.ReplaceAll(e.Name(), p.short(), "ID"), data)
	}
	return b.String()
}

const whole = "_SUCCESS=\npart-00000-ID.csv=part 0\npart-00001-ID.csv=part 1\npart-00002-ID.csv=part 2\npart-00003-ID.csv=part 3\n"

func TestCut(t *testing.T) {
	t.Parallel()
	p, _ := work(t)
	var got []string
	for _, part := range p.Targets[0].Parts {
		got = append(got, fmt.Sprintf("%d:%d-%d", part.Index, part.First, part.Last))
	}
	if want := "0:0-3 1:3-6 2:6-9 3:9-10"; strings.Join(got, " ") != want {
		t.Errorf("found %v, expected %s", got, want)
	}
	for rows, parts := range map[int64]int{0: 1, 1: 1, 10: 1, 11: 2} {
		target := Target{Rows: rows}
		if err := target.Cut(t.Context(), 10, 0, threes); err != nil || len(target.Parts) != parts {
			t.Errorf("%d rows: found %d parts and %v, expected %d", rows, len(target.Parts), err, parts)
		}
	}
}

// TestHash compares the hash of no bytes with that of the reference implementation, xxhsum -H128 of
// an empty file.
func TestHash(t *testing.T) {
	t.Parallel()
	in, piece := Input{Path: filepath.Join(t.TempDir(), "x")}, Piece{}
	write(t, in.Path, "")
	if err := in.hash(t.Context(), &piece); err != nil || piece.XXH3 != "99aa06d3014798d86001c324468d497f" {
		t.Errorf("found %s and %v", piece.XXH3, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := in.hash(ctx, &piece); !errors.Is(err, stopped) {
		t.Errorf("cancelled: found %v", err)
	}
}

func TestCheckInputs(t *testing.T) {
	t.Parallel()
	p, dir := work(t)
	target, part, _ := p.Part(1) // rows 3 to 5, bytes 13 to 21
	target.Inputs[0].Column = "" // as for a file of class names
	input := filepath.Join(dir, "in.idx")
	data, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	for at := range data {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		write(t, input, string(changed))
		err := target.CheckInputs(t.Context(), part)
		if inside := at >= 13 && at < 22; inside != errors.Is(err, fault.Malformed) || !inside && err != nil {
			t.Errorf("byte %d changed: found %v", at, err)
		}
	}
	write(t, input, string(data)+"x")
	if err := target.CheckInputs(t.Context(), part); !errors.Is(err, fault.Malformed) {
		t.Errorf("a byte more: found %v", err)
	}
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	p, dir := work(t)
	path := filepath.Join(dir, "plan.json")
	for range 2 { // writing the same plan again is harmless
		if err := p.Write(t.Context(), path, false); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Read(t.Context(), &object.Store{}, path)
	if err != nil || back.ID != p.ID || back.FileName(&back.Targets[0], &back.Targets[0].Parts[3]) != "part-00003-"+p.ID[:8]+".csv" {
		t.Fatalf("found %+v and %v", back, err)
	}
	later := *p
	later.Complete(time.Unix(1e9, 0))
	if later.ID != p.ID {
		t.Error("the ID depends on the time")
	}
	other := *p
	other.Options = nil
	other.Complete(time.Unix(0, 0))
	if err := other.Write(t.Context(), path, false); !errors.Is(err, fault.Exists) {
		t.Errorf("another plan in its place: found %v", err)
	}
	if err := other.Write(t.Context(), path, true); err != nil {
		t.Error(err)
	}
	for root, query := range map[string]string{"s3://bkt": "secret=1", "ftp://bkt": ""} { // of a plan that was edited
		bad := *p
		bad.Parameters = map[string]string{root: query}
		bad.Complete(time.Unix(0, 0))
		path := filepath.Join(t.TempDir(), "plan.json")
		if err := bad.Write(t.Context(), path, false); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), &object.Store{}, path); !errors.Is(err, fault.Usage) {
			t.Errorf("%s?%s: found %v", root, query, err)
		}
		if err := p.Write(t.Context(), path, true); !errors.Is(err, fault.Usage) {
			t.Errorf("a plan in place of one with %s?%s: found %v", root, query, err)
		}
	}
}

// TestReadRefuses demands that any change to a plan is found by its hash, and that invalid contents
// are refused even with the right hash.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	p, dir := work(t)
	path := filepath.Join(dir, "plan.json")
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for old, replacement := range map[string]string{`"rows":10`: `"rows":11`, `"first":3`: `"first":4`, `"list"`: `"flat"`, `"idxport 1"`: `"idxport 2"`,
		`"version":2`: `"version":3`, `"idxport-plan"`: `"plan"`, `"targets"`: `"goals"`, `{"format`: `["format`} {
		changed := strings.Replace(string(text), old, replacement, 1)
		if changed == string(text) {
			t.Fatalf("%s is not in %s", old, text)
		}
		write(t, path, changed)
		if _, err := Read(t.Context(), &object.Store{}, path); !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v", replacement, err)
		}
	}
	for name, change := range map[string]func(t *Target){
		"a gap":                func(t *Target) { t.Parts[1].First++ },
		"rows twice":           func(t *Target) { t.Parts[1].First-- },
		"a part twice":         func(t *Target) { t.Parts[1] = t.Parts[0] },
		"rows are missing":     func(t *Target) { t.Parts = t.Parts[:3] },
		"an index is left out": func(t *Target) { t.Parts[3].Index++ },
		"no hash":              func(t *Target) { t.Parts[3].Pieces = nil },
		"it ends before":       func(t *Target) { t.Parts[0].Last, t.Parts[1].First = -1, -1 },
	} {
		bad, _ := work(t)
		change(&bad.Targets[0])
		bad.Complete(time.Unix(0, 0))
		text, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(text))
		if _, err := Read(t.Context(), &object.Store{}, path); !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	p, dir := work(t)
	if missing, err := p.Missing(t.Context()); err != nil || Spec(missing) != "0-3" {
		t.Errorf("at first: found %v missing and %v", missing, err)
	}
	for _, i := range []int{3, 1, 0} {
		if err := deliver(p, i, fmt.Sprint("part ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Commit(t.Context()); !errors.Is(err, fault.Refused) || shown(t, p) != "" {
		t.Errorf("a part is missing: found %v", err)
	}
	deliverAll(t, p) // three of them for the second time
	if err := deliver(p, 2, "part two"); !errors.Is(err, fault.Refused) {
		t.Errorf("other bytes: found %v", err)
	}
	for again := range 2 {
		made, err := p.Commit(t.Context())
		if err != nil || shown(t, p) != whole || len(made) != 1 || len(made[0]) != 4*(1-again) {
			t.Errorf("found %v, results %v and\n%s", err, made, shown(t, p))
		}
	}
	if missing, err := p.Missing(t.Context()); err != nil || missing != nil {
		t.Errorf("at last: found %v missing and %v", missing, err)
	}
	if err := deliver(p, 2, "late"); err != nil { // by a process that began before the commit: it makes the staging folder again
		t.Error(err)
	}
	p.Tidy(t.Context(), &p.Targets[0])
	if made, err := p.Commit(t.Context()); err != nil || made[0] != nil || shown(t, p) != whole {
		t.Errorf("again, after a late part: found %v and\n%s", err, shown(t, p))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".out*")); left != nil { // the pattern is well formed
		t.Errorf("left %v", left)
	}
}

// TestCommitRefuses demands that the parts are what their results say, and that the target is free.
func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	part := func(p *Plan) string {
		return filepath.Join(p.staging(&p.Targets[0]), partsFolder, "part-00001-"+p.short()+".csv")
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, p *Plan)
		want  error
		says  string
	}{
		"a part has different bytes": {func(t *testing.T, p *Plan) { write(t, part(p), "part X") }, fault.Refused, "found 6 bytes"},
		"a part is cut":              {func(t *testing.T, p *Plan) { write(t, part(p), "par") }, fault.Refused, "found 3 bytes"},
		"a part is gone":             {func(_ *testing.T, p *Plan) { os.Remove(part(p)) }, fault.Refused, "part 1 was made, but its file is gone"},
		"another file": {func(t *testing.T, p *Plan) {
			write(t, filepath.Join(filepath.Dir(part(p)), "more.csv"), "")
		}, fault.Refused, "more.csv is not a part"},
		"a result is not JSON": {func(t *testing.T, p *Plan) { write(t, resultPath(p, 2), "{") }, fault.Refused, "the record of part 2, "},
		"a result of another part": {func(t *testing.T, p *Plan) {
			write(t, resultPath(p, 2), resultText(t, p, 1))
		}, fault.Refused, "belongs to another part"},
		"a result of another name": {func(t *testing.T, p *Plan) {
			write(t, resultPath(p, 2), strings.Replace(resultText(t, p, 2), "part-00002", "part-00001", 1))
		}, fault.Refused, "belongs to another part"},
		"something else exists there": {func(t *testing.T, p *Plan) {
			if err := os.Mkdir(p.Targets[0].Path, 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(p.Targets[0].Path, "mine"), "keep")
		}, fault.Exists, "is not what this plan makes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := work(t)
			deliverAll(t, p)
			test.spoil(t, p)
			before := shown(t, p)
			_, err := p.Commit(t.Context())
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || shown(t, p) != before {
				t.Errorf("found %v and\n%s, expected %q", err, shown(t, p), test.says)
			}
		})
	}
}

// TestForEach demands that no more calls run at once than the limit.
func TestForEach(t *testing.T) {
	t.Parallel()
	var running, called atomic.Int32
	err := forEach(t.Context(), 2, 20, func(context.Context, int) error {
		if running.Add(1) > 2 {
			t.Error("more than 2 calls run at once")
		}
		time.Sleep(time.Millisecond)
		running.Add(-1)
		called.Add(1)
		return nil
	})
	if err != nil || called.Load() != 20 {
		t.Errorf("%d calls, %v", called.Load(), err)
	}
}

// TestCommitOverTaken demands the same error if something is created at the path of the target
// while the parts are checked.
func TestCommitOverTaken(t *testing.T) {
	t.Parallel()
	p, _ := work(t)
	deliverAll(t, p)
	target := &p.Targets[0]
	if err := os.Mkdir(target.Path, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(target.Path, "mine"), "keep")
	if err := p.storage(target).publish(t.Context(), nil); !errors.Is(err, fault.Exists) || !strings.Contains(err.Error(), "is not what this plan makes") {
		t.Errorf("found %v", err)
	}
}

// TestAtOnce makes every part many times at once, and then runs many commits at once: all succeed.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	p, _ := work(t)
	var all sync.WaitGroup
	for range 8 {
		for i := range p.Parts() {
			all.Go(func() {
				if err := deliver(p, i, fmt.Sprint("part ", i)); err != nil {
					t.Errorf("part %d: %v", i, err)
				}
			})
		}
	}
	all.Wait()
	var made atomic.Int32
	for range 8 {
		all.Go(func() {
			results, err := p.Commit(t.Context())
			if err != nil {
				t.Error(err)
			} else if results[0] != nil {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if shown(t, p) != whole || made.Load() == 0 { // two may report it: one may find that the rename of the other has succeeded
		t.Errorf("%d commits report that they made\n%s", made.Load(), shown(t, p))
	}
}

func TestAbort(t *testing.T) {
	t.Parallel()
	p, dir := work(t)
	deliverAll(t, p)
	if err := p.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".out*")); left != nil { // the pattern is well formed
		t.Errorf("left %v", left)
	}
	deliverAll(t, p)
	if _, err := p.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Abort(t.Context()); err != nil || shown(t, p) != whole {
		t.Errorf("after commit: found %v and\n%s", err, shown(t, p))
	}
}

// TestAbortFails aborts a plan whose table lies below a file.
func TestAbortFails(t *testing.T) {
	t.Parallel()
	p, dir := work(t)
	write(t, filepath.Join(dir, "file"), "")
	p.Targets[0].Path = filepath.Join(dir, "file", "out")
	if err := p.Abort(t.Context()); err == nil {
		t.Error("found no error")
	}
}

// TestSweep demands that an attempt removes the partial and the lock that a killed attempt of the
// same part has left, but not new ones.
func TestSweep(t *testing.T) {
	t.Parallel()
	p, _ := work(t)
	deliverAll(t, p)
	dir := filepath.Join(p.staging(&p.Targets[0]), attemptsFolder)
	var left []string
	for i, age := range map[int]time.Duration{0: time.Hour, 1: 0} {
		base := "0123456789abcdef-" + p.FileName(&p.Targets[0], &p.Targets[0].Parts[i])
		for _, name := range []string{"." + base + ".idxport-lock", "." + base + ".idxport-0123456789abcdef.partial"} {
			path := filepath.Join(dir, name)
			write(t, path, "")
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
				t.Fatal(err)
			}
			if age == 0 {
				left = append(left, name)
			}
		}
	}
	for i := range 2 {
		if err := deliver(p, i, fmt.Sprint("part ", i)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := names(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if !slices.Contains(found, name) {
			t.Errorf("%s was removed", name)
		}
	}
	for _, name := range found {
		if strings.Contains(name, "part-00000") {
			t.Errorf("%s was left", name)
		}
	}
}
