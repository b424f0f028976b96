package plan

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

// success is the empty file that marks a folder of parts as complete.
const success = "_SUCCESS"

// A Result describes a part that was made.
type Result struct {
	PlanID string `json:"plan_id"`
	Tool   string `json:"tool"`
	Part   int    `json:"part"`
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Upload is the object to be published; nil if the part is a file.
	Upload *object.PendingUpload `json:"upload,omitempty"`
}

// A storage keeps the parts and results of one target until commit publishes them or abort removes
// them. Parts and results are named without folders.
type storage interface {
	// put moves the part that was made at attempt to its name, and then writes text as its result.
	// If the part exists, it must have the same bytes. If the result exists, put fails with
	// fault.Exists.
	put(ctx context.Context, attempt, part, result string, text []byte) error
	// read returns the text of a result, or fs.ErrNotExist.
	read(ctx context.Context, result string) ([]byte, error)
	// resultPath returns the path of a result.
	resultPath(result string) string
	// list returns the existing names of one kind.
	list(ctx context.Context, kind listKind) ([]string, error)
	// check returns an error unless the parts match their results, and nothing else exists where
	// they will be visible.
	check(ctx context.Context, results []Result) error
	// publish makes the target visible, with all of its parts, which have been checked.
	publish(ctx context.Context, results []Result) error
	// remove removes attempts, parts and results. Unless committed is set, it also removes the
	// visible parts of a commit that did not end.
	remove(ctx context.Context, committed bool) error
}

// A listKind selects the names that storage.list returns.
type listKind int

const (
	visible   listKind = iota // contents of the target
	delivered                 // results
	leftovers                 // anything that stays until remove is called
)

// staging returns the folder beside t for files that are not committed.
func (p *Plan) staging(t *Target) string { return beside(t, ".idxport-plan-"+p.short()) }

// removeSuffix is the length of the suffix that folder.remove appends to the name of a staging
// folder: a hyphen and a random name.
const removeSuffix = 1 + 16

// beside returns the path of a hidden file or folder beside a target, whose name has the given
// ending and is short enough for removeSuffix more bytes.
func beside(t *Target, ending string) string {
	name := publish.Hidden(source.Base(t.Path), ending+strings.Repeat("-", removeSuffix))
	return source.Under(source.Above(t.Path), name[:len(name)-removeSuffix])
}

// files returns the names of the files of the complete target.
func (p *Plan) files(t *Target) map[string]bool {
	names := map[string]bool{success: true}
	for i := range t.Parts {
		names[p.FileName(t, &t.Parts[i])] = true
	}
	return names
}

// hasAll reports whether the names found, which are unique, include all expected ones. There may be
// others, such as an index that a reader has added.
func hasAll(found []string, expected map[string]bool) bool {
	n := 0
	for _, name := range found {
		if expected[name] {
			n++
		}
	}
	return n == len(expected)
}

// resultName returns the name of the file of a part's result.
func (p *Plan) resultName(t *Target, part *Part) string {
	return strings.TrimSuffix(p.FileName(t, part), t.Extension) + ".json"
}

// randomName returns a name that nobody else uses.
func randomName() string {
	var bytes [8]byte
	_, _ = rand.Read(bytes[:]) // documented to never fail
	return hex.EncodeToString(bytes[:])
}

// forEach calls f with 0 to n−1, in up to limit goroutines, until a call fails.
func forEach(ctx context.Context, limit, n int, f func(ctx context.Context, i int) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error { return f(inner, i) })
	}
	return group.Wait()
}

// errUnreadable is the cause of the error for a result that is damaged.
var errUnreadable = errors.New("unreadable")

// resultIn returns the result of a part, nil if it was not made.
func (p *Plan) resultIn(ctx context.Context, s storage, t *Target, part *Part) (*Result, error) {
	name := p.resultName(t, part)
	text, err := s.read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if json.Unmarshal(text, r) != nil || r.PlanID != p.ID || r.Part != part.Index || r.Name != p.FileName(t, part) || r.Rows != part.Last-part.First {
		return nil, p.foreign(part, s.resultPath(name)).Because(errUnreadable)
	}
	return r, nil
}

// committedIn reports whether the target is complete and visible.
func (p *Plan) committedIn(ctx context.Context, s storage, t *Target) (bool, error) {
	found, err := s.list(ctx, visible)
	return err == nil && hasAll(found, p.files(t)), err
}

// Command returns the command line of a command that needs only the plan: status, commit or abort.
func (p *Plan) Command(name string) string {
	return "idxport " + name + " --plan " + shell.Path(cmp.Or(p.path, "PLAN"))
}

// runCommand returns the command line that makes a part, given by its index or a placeholder.
func (p *Plan) runCommand(part any) string {
	return fmt.Sprintf("%s --part %v", p.Command("convert"), part)
}

// adviseAbort returns the hint for parts that are damaged or were made from something else.
func (p *Plan) adviseAbort() string { return p.Command("abort") + ", then run all parts again" }

// foreign returns the error for a result at path that is damaged or belongs to another part.
func (p *Plan) foreign(part *Part, path string) *fault.Error {
	return fail(fault.Refused, p.adviseAbort(), "the record of part %d, %s, is damaged or belongs to another part", part.Index, path)
}

// errAborted is the cause of the error of a commit that an abort has stopped.
var errAborted = errors.New("aborted")

// aborted returns the error for a target that was aborted while a commit ran.
func (p *Plan) aborted(t *Target) *fault.Error {
	return fail(fault.Refused, p.adviseAbort(), "%s was aborted while this command ran", t.Path).Because(errAborted)
}

// occupied returns the error for a target at whose path something else exists.
func occupied(target string) error {
	return fail(fault.Exists, "move it away, then run the command again", "%s already exists, and is not what this plan makes", target)
}

// lost returns the error for a part whose result exists, at path, but whose "file" or "upload",
// given as kind, does not.
func (p *Plan) lost(r *Result, path, kind string) error {
	hint := fmt.Sprintf("remove %s, then: %s", shell.Path(path), p.runCommand(r.Part))
	return fail(fault.Refused, hint, "part %d was made, but its %s is gone", r.Part, kind)
}
