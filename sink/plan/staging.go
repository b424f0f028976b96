package plan

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idxport/idxport/sink/publish"
)

// Folders of a staging folder.
const (
	attempts = "attempts"
	parts    = "parts"
	tasks    = "tasks"
)

// success is the empty file that tells readers that a folder of parts is whole.
const success = "_SUCCESS"

// A Task is what a run that made a part tells of it.
type Task struct {
	PlanID string `json:"plan_id"`
	Tool   string `json:"tool"`
	Part   int    `json:"part"`
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// staging is the folder where the parts of t wait.
func (p *Plan) staging(t *Target) string {
	dir, base := filepath.Split(filepath.Clean(t.Path))
	return filepath.Join(dir, "."+base+".idxport-plan-"+p.short())
}

// taskPath is where the task of a part is told.
func (p *Plan) taskPath(t *Target, part *Part) string {
	name := p.FileName(t, part)
	return filepath.Join(p.staging(t), tasks, name[:len(name)-len(t.Extension)]+".json")
}

// Attempt is a new name for a part on its way, in a folder that it makes.
func (p *Plan) Attempt(t *Target, part *Part) (string, error) {
	for _, folder := range []string{attempts, parts, tasks} {
		if err := os.MkdirAll(filepath.Join(p.staging(t), folder), 0o777); err != nil {
			return "", err
		}
	}
	p.sweep(t, part)
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails, says its documentation
	name := p.FileName(t, part)
	return filepath.Join(p.staging(t), attempts, hex.EncodeToString(random[:])+"-"+name), nil
}

// settled is how old a lock is before sweep tries it: one that is being made is not held for a moment.
const settled = time.Minute

// sweep removes what attempts of the part that were killed have left. The lock of one that goes on is held.
func (p *Plan) sweep(t *Target, part *Part) {
	const lock = ".idxport-lock"
	dir := filepath.Join(p.staging(t), attempts)
	entries, _ := os.ReadDir(dir) // what cannot be swept goes with the folder
	for _, e := range entries {
		base, ok := strings.CutSuffix(strings.TrimPrefix(e.Name(), "."), lock)
		if !ok || !strings.Contains(base, p.FileName(t, part)) {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < settled {
			continue
		}
		if set, err := publish.Prepare([]publish.Target{{Path: filepath.Join(dir, base)}}, publish.Options{}); err == nil {
			set.Discard()
		}
	}
}

// Told is the task of a part, if it was made.
func (p *Plan) Told(t *Target, part *Part) (*Task, error) {
	text, err := os.ReadFile(p.taskPath(t, part))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	task := &Task{}
	if err := json.Unmarshal(text, task); err != nil {
		return nil, fail(ErrIncomplete, "idxport abort, and begin again", "%s: %v", p.taskPath(t, part), err)
	}
	if task.PlanID != p.ID || task.Part != part.Index || task.Name != p.FileName(t, part) || task.Rows != part.Last-part.First {
		return nil, fail(ErrIncomplete, "idxport abort, and begin again", "%s: it tells of another part", p.taskPath(t, part))
	}
	return task, nil
}

// Deliver puts the part at attempt, which is complete, in its place, and tells of it. If it is there already, it must have the same bytes.
func (p *Plan) Deliver(t *Target, part *Part, attempt string, task Task) error {
	task.PlanID, task.Tool, task.Part, task.Name, task.Rows = p.ID, p.Tool, part.Index, p.FileName(t, part), part.Last-part.First
	place := filepath.Join(p.staging(t), parts, task.Name)
	err := publish.Take(attempt, place)
	if errors.Is(err, publish.ErrExists) {
		err = same(place, attempt)
		_ = os.Remove(attempt) // what remains goes with the staging folder
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	path := p.taskPath(t, part)
	if err := writeFile(attempt+".json", append(text, '\n'), false); err != nil {
		return err
	}
	if err = publish.Take(attempt+".json", path); !errors.Is(err, publish.ErrExists) {
		return err
	}
	_ = os.Remove(attempt + ".json") // what remains goes with the staging folder
	old, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(bytes.TrimSpace(old), text) {
		return fail(ErrDiffers, "idxport abort, and begin again with one version of the program", "part %d was told with another content", part.Index)
	}
	return err
}

// same is nil if the files at a and b are equal.
func same(a, b string) error {
	x, err := publish.Fingerprint(a)
	if err != nil {
		return err
	}
	y, err := publish.Fingerprint(b)
	if err == nil && x != y {
		return fail(ErrDiffers, "run all parts with one version of the program, on the inputs of the plan", "%s is there with other bytes", a)
	}
	return err
}

// Missing are the indices of the parts that were not told of. There are none once the plan is committed.
func (p *Plan) Missing() ([]int, error) {
	var missing []int
	for i := range p.Targets {
		t := &p.Targets[i]
		some, err := p.missingOf(t)
		if err != nil || some != nil { // a commit may have ended meanwhile, and removed what tells of the parts
			done, doneErr := p.Committed(t)
			if doneErr != nil || !done && err != nil {
				return nil, errors.Join(err, doneErr)
			}
			if done {
				continue
			}
		}
		missing = append(missing, some...)
	}
	return missing, nil
}

// missingOf are the indices of the parts of t that were not told of.
func (p *Plan) missingOf(t *Target) (missing []int, err error) {
	for k := range t.Parts {
		task, err := p.Told(t, &t.Parts[k])
		if err != nil {
			return nil, err
		}
		if task == nil {
			missing = append(missing, t.Parts[k].Index)
		}
	}
	return missing, nil
}

// Committed tells whether the target is there, whole and of this plan.
func (p *Plan) Committed(t *Target) (bool, error) {
	entries, err := os.ReadDir(t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var found, expected []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	expected = append(expected, success)
	for i := range t.Parts {
		expected = append(expected, p.FileName(t, &t.Parts[i]))
	}
	slices.Sort(expected)
	return slices.Equal(found, expected), nil
}

// Tidy removes what is left beside a target that was committed: tasks, and attempts that nobody needs. What remains is hidden and disturbs nobody.
func (p *Plan) Tidy(t *Target) { _ = os.RemoveAll(p.staging(t)) }

// Abort removes what the parts of the plan have made, but nothing that was committed.
func (p *Plan) Abort() error {
	for i := range p.Targets {
		if err := os.RemoveAll(p.staging(&p.Targets[i])); err != nil {
			return err
		}
	}
	return nil
}

// writeFile makes a file that appears whole.
func writeFile(path string, text []byte, overwrite bool) error {
	set, err := publish.Prepare([]publish.Target{{Path: path}}, publish.Options{Overwrite: overwrite})
	if err != nil {
		return err
	}
	defer set.Discard() // no effect after Commit
	if _, err := set.File(0).Write(text); err != nil {
		return err
	}
	return set.Commit()
}
