package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/idxport/idxport/object"
)

// What plans say of themselves.
const (
	format  = "idxport-plan"
	version = 1
)

// A Plan is one piece of work, divided.
type Plan struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"plan_id"`              // SHA-256 of the plan as JSON without this and the next
	Created    string            `json:"created"`              // RFC 3339
	Tool       string            `json:"tool"`                 // the program and its version: another may make other bytes
	Arguments  []string          `json:"arguments"`            // flags of convert about all parts
	Parameters map[string]string `json:"parameters,omitempty"` // of the buckets of URLs, such as their endpoint: by URL, as a query
	Targets    []Target          `json:"targets"`

	// Objects is where targets and inputs are that are named by URL.
	Objects *object.Store `json:"-"`
}

// A Target is one output: a folder of parts.
type Target struct {
	Path      string  `json:"path"`
	Format    string  `json:"format"`
	Extension string  `json:"extension"` // of the parts
	Dataset   string  `json:"dataset"`   // as convert takes it
	Inputs    []Input `json:"inputs"`
	Rows      int64   `json:"rows"`
	Parts     []Part  `json:"parts"`
}

// An Input is one file, or one version of an object.
type Input struct {
	Path   string `json:"path"`
	Column string `json:"column,omitempty"` // its name; empty: it is no column, as the file of class names
	Bytes  int64  `json:"bytes"`            // of the file
	ETag   string `json:"etag,omitempty"`   // of an object: what its storage calls this version
}

// A Part is a range of rows, and what it is made of in each input of its target.
type Part struct {
	Index  int     `json:"index"` // over all targets
	First  int64   `json:"first"`
	Last   int64   `json:"last"` // half-open
	Pieces []Piece `json:"pieces"`
}

// A Piece is a range of the bytes of an input.
type Piece struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`             // half-open
	XXH3 string `json:"xxh3,omitempty"` // of 128 bits; empty for an object, which is known by its ETag
}

// Complete fills in what follows from the rest.
func (p *Plan) Complete(created time.Time) {
	p.Format, p.Version = format, version
	p.ID = p.id()
	p.Created = created.UTC().Format(time.RFC3339)
}

// id is the hash of the plan without its name and time.
func (p *Plan) id() string {
	bare := *p
	bare.ID, bare.Created = "", ""
	text, _ := json.Marshal(bare) // strings and numbers, in the order of the fields
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Parts is the number of parts of all targets.
func (p *Plan) Parts() int {
	n := 0
	for _, t := range p.Targets {
		n += len(t.Parts)
	}
	return n
}

// Part is the part with the index, and its target.
func (p *Plan) Part(index int) (*Target, *Part, error) {
	rest := index
	for i := range p.Targets {
		t := &p.Targets[i]
		if rest >= 0 && rest < len(t.Parts) {
			return t, &t.Parts[rest], nil
		}
		rest -= len(t.Parts)
	}
	return nil, nil, fail(ErrUsage, fmt.Sprintf("parts are counted from 0 to %d", p.Parts()-1), "the plan has no part %d", index)
}

// FileName is the name of the file of a part: its number and the plan that it belongs to.
func (p *Plan) FileName(t *Target, part *Part) string {
	return fmt.Sprintf("part-%05d-%s%s", part.Index, p.short(), t.Extension)
}

// short is the beginning of the ID, which is enough beside each other.
func (p *Plan) short() string { return p.ID[:8] }

// most is how long a plan may be, in bytes: some millions of parts.
const most = 1 << 30

// Write writes the plan to path, which must not exist unless it holds the same plan or overwrite is set.
func (p *Plan) Write(ctx context.Context, path string, overwrite bool) error {
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if old, err := Read(ctx, p.Objects, path); err == nil && old.ID == p.ID {
		return nil // the same but for the time: runs that have begun go on
	}
	if object.IsURL(path) {
		return p.Objects.Put(ctx, path, text, overwrite)
	}
	return writeFile(path, text, overwrite)
}

// Read reads a plan, which is a file or in objects, and checks that it is whole. The parameters of its buckets are given to objects, where those have none.
func Read(ctx context.Context, objects *object.Store, path string) (*Plan, error) {
	text, err := readText(ctx, objects, path)
	if err != nil {
		return nil, err
	}
	p := &Plan{Objects: objects}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fail(ErrPlan, "make it anew with idxport plan", "%s: %v", path, err)
	}
	switch {
	case p.Format != format:
		return nil, fail(ErrPlan, "make it with idxport plan", "%s: found the format %q, expected %q", path, p.Format, format)
	case p.Version != version:
		return nil, fail(ErrPlan, "use the version of the program that made it", "%s: found a plan of version %d, expected %d", path, p.Version, version)
	case len(p.ID) != 2*sha256.Size || p.ID != p.id():
		return nil, fail(ErrPlan, "make it anew with idxport plan", "%s: its contents are not those that its plan_id stands for", path)
	}
	if err := p.check(path); err != nil {
		return nil, err
	}
	return p, objects.Suppose(p.Parameters)
}

func readText(ctx context.Context, objects *object.Store, path string) ([]byte, error) {
	if object.IsURL(path) {
		return objects.Get(ctx, path, most)
	}
	return os.ReadFile(path)
}

// check refuses plans whose parts do not make up their tables: a hash says that nobody changed it, not who made it.
func (p *Plan) check(path string) error {
	index := 0
	for _, t := range p.Targets {
		next := int64(0)
		for _, part := range t.Parts {
			if part.Index != index || part.First != next || part.Last < part.First || len(part.Pieces) != len(t.Inputs) {
				return fail(ErrPlan, "make it anew with idxport plan", "%s: part %d is rows %d to %d, expected part %d from row %d on", path, part.Index, part.First, part.Last, index, next)
			}
			index, next = index+1, part.Last
		}
		if next != t.Rows {
			return fail(ErrPlan, "make it anew with idxport plan", "%s: the parts of %s end at row %d of %d", path, t.Path, next, t.Rows)
		}
	}
	return nil
}
