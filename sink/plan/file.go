package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
)

// maxPlan limits the size of a plan, in bytes: it has room for some millions of parts.
const maxPlan = 1 << 30

// Write writes the plan to a file or an object, which must not exist unless it holds the same plan.
// With overwrite it may also hold another plan, if no part of that plan was made: without the plan,
// its parts could not be removed.
func (p *Plan) Write(ctx context.Context, path string, overwrite bool) error {
	if err := p.checkNames(); err != nil {
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
		return nil // it differs only in its time, and its parts may be running
	case !overwrite: // creating it below fails
	case err != nil:
		return fail(fault.Refused, "name another file, or remove it", "%s is not a plan, and is not replaced: %v", path, err)
	default:
		if err := old.checkUnmade(ctx, path); err != nil {
			return err
		}
	}
	if object.IsURL(path) {
		return p.Objects.Put(ctx, path, text, overwrite)
	}
	return writeFile(path, text, overwrite)
}

// checkNames returns an error for names that JSON cannot hold: parts would look for other files.
func (p *Plan) checkNames() error {
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

// checkUnmade returns an error if a part of the plan, which is at path, was made.
func (p *Plan) checkUnmade(ctx context.Context, path string) error {
	p.path = path
	p.Objects = new(object.Store) // the store of the new plan may have other parameters
	if err := p.Objects.SetParameters(p.Parameters); err != nil {
		return err
	}
	for i := range p.Targets {
		left, err := p.storage(&p.Targets[i]).list(ctx, leftovers)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fail(fault.Exists, "commit them: "+p.Command("commit")+"; or remove them: "+p.Command("abort"), "parts of the existing plan are left").In(path)
		}
	}
	return nil
}

// Read reads a plan from a file or an object and checks it. It sets the plan's parameters in
// objects, for buckets that have none.
func Read(ctx context.Context, objects *object.Store, path string) (*Plan, error) {
	p, err := read(ctx, objects, path)
	if err == nil {
		p.path = path
		err = objects.SetParameters(p.Parameters)
	}
	return p, err
}

// hintPlan is the hint for what is not a plan.
const hintPlan = "give the file that idxport plan wrote"

// decodeText describes an error of package json to users: its own text is about Go's types.
func decodeText(err error) string {
	var wrong *json.UnmarshalTypeError
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "found the field " + name + ", expected a plan"
	}
	if errors.As(err, &wrong) {
		return fmt.Sprintf("found a %s in the field %q, expected a plan", wrong.Value, wrong.Field)
	}
	return fmt.Sprintf("found damaged JSON, expected a plan: %v", err)
}

func read(ctx context.Context, objects *object.Store, path string) (*Plan, error) {
	text, err := readText(ctx, objects, path)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, invalid(path, "found no JSON object, expected a plan").WithHint(hintPlan)
	}
	p := &Plan{Objects: objects}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, invalid(path, "%s", decodeText(err)).WithHint(hintPlan)
	}
	switch {
	case p.Format != format:
		return nil, invalid(path, "found the format %q, expected %q", p.Format, format).WithHint("make it with idxport plan")
	case p.Version != version:
		return nil, invalid(path, "found a plan of version %d, expected %d", p.Version, version).
			WithHint("use the version of the program that made it")
	case len(bytes.TrimSpace(text[d.InputOffset():])) > 0:
		return nil, invalid(path, "found extra data after the plan, at byte %d", d.InputOffset())
	case len(p.ID) != 2*sha256.Size || p.ID != p.id():
		return nil, invalid(path, "its contents do not match its plan_id")
	}
	return p, p.check(path)
}

// readText reads the file or object at path, up to the maximum size of a plan.
func readText(ctx context.Context, objects *object.Store, path string) ([]byte, error) {
	if object.IsURL(path) {
		return objects.Get(ctx, path, maxPlan)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only: an error does not matter
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fail(fault.Usage, hintPlan, "it is a folder, expected a plan").In(path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	if err == nil && len(text) > maxPlan {
		err = invalid(path, "found more than %d bytes, expected a plan", int64(maxPlan)).WithHint("make it with idxport plan")
	}
	return text, err
}
