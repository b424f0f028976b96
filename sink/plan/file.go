package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
)

// maxPlan is how long a plan may be, in bytes: some millions of parts.
const maxPlan = 1 << 30

// Write writes the plan to path, which must not exist unless it holds the same plan. If overwrite
// is set, it may hold another plan of which no parts were made: what they have left could not be
// removed any more.
func (p *Plan) Write(ctx context.Context, path string, overwrite bool) error {
	if err := p.checkText(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	switch old, err := read(ctx, p.Objects, path); {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && old.ID == p.ID:
		return nil // the same but for the time: runs that have begun go on
	case !overwrite: // refused below, by whoever knows whether it is there
	case err != nil:
		return fail(fault.Refused, "name another file, or remove it", "%s is no plan, and is not replaced: %v", path, err)
	default:
		if err := old.unmade(ctx, path); err != nil {
			return err
		}
	}
	if object.IsURL(path) {
		return p.Objects.Put(ctx, path, text, overwrite)
	}
	return writeFile(path, text, overwrite)
}

// checkText refuses names that JSON cannot hold: the parts would look for others.
func (p *Plan) checkText() error {
	const found = "found a name that is not UTF-8, which a plan cannot hold"
	for _, t := range p.Targets {
		if !utf8.ValidString(t.Path) {
			return fail(fault.Usage, "give the output another name", found).In(t.Path)
		}
		for _, in := range t.Inputs {
			if !utf8.ValidString(in.Path + in.Column) {
				return fail(fault.Usage, "give it another name: ln -s "+shell.Path(in.Path)+" NAME.idx", found).In(in.Path)
			}
		}
	}
	return nil
}

// unmade is nil if no part of the plan, which is at path, was made.
func (p *Plan) unmade(ctx context.Context, path string) error {
	p.Objects = new(object.Store) // not that of the new one, which may have other parameters
	if err := p.Objects.Suppose(p.Parameters); err != nil {
		return err
	}
	for i := range p.Targets {
		left, err := p.at(&p.Targets[i]).list(ctx, begun)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fail(fault.Exists, "idxport abort with it first, or commit it", "parts of the plan that is there were made").In(path)
		}
	}
	return nil
}

// Read reads a plan, which is a file or in objects, and checks that it is whole. The parameters of
// its buckets are given to objects, where those have none.
func Read(ctx context.Context, objects *object.Store, path string) (*Plan, error) {
	p, err := read(ctx, objects, path)
	if err == nil {
		p.path = path
		err = objects.Suppose(p.Parameters)
	}
	return p, err
}

func read(ctx context.Context, objects *object.Store, path string) (*Plan, error) {
	text, err := readText(ctx, objects, path)
	if err != nil {
		return nil, err
	}
	p := &Plan{Objects: objects}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, noPlan(path, "%v", err)
	}
	switch {
	case p.Format != format:
		return nil, noPlan(path, "found the format %q, expected %q", p.Format, format).WithHint("make it with idxport plan")
	case p.Version != version:
		return nil, noPlan(path, "found a plan of version %d, expected %d", p.Version, version).
			WithHint("use the version of the program that made it")
	case len(bytes.TrimSpace(text[d.InputOffset():])) > 0:
		return nil, noPlan(path, "found more behind the plan, at byte %d", d.InputOffset())
	case len(p.ID) != 2*sha256.Size || p.ID != p.id():
		return nil, noPlan(path, "its contents are not those that its plan_id stands for")
	}
	return p, p.check(path)
}

// readText reads the file or object at path, of which no more than a plan may have is taken.
func readText(ctx context.Context, objects *object.Store, path string) ([]byte, error) {
	if object.IsURL(path) {
		return objects.Get(ctx, path, maxPlan)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	text, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	if err == nil && len(text) > maxPlan {
		err = noPlan(path, "found more than %d bytes, expected a plan", int64(maxPlan)).WithHint("make it with idxport plan")
	}
	return text, err
}
