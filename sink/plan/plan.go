package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
)

// What plans say of themselves.
const (
	format  = "idxport-plan"
	version = 2
)

// A Plan is one piece of work, divided.
type Plan struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"plan_id"`              // SHA-256 of the plan as JSON without this and the next
	Created    string            `json:"created"`              // RFC 3339
	Tool       string            `json:"tool"`                 // the program and its version: another may make other bytes
	Options    json.RawMessage   `json:"options"`              // of all parts: what decides on their bytes, see package convert
	Parameters map[string]string `json:"parameters,omitempty"` // of the buckets of URLs, such as their endpoint: by URL, as a query
	Targets    []Target          `json:"targets"`

	// Objects is where targets and inputs are that are named by URL.
	Objects *object.Store `json:"-"`

	path string // that it was read from
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
	Header *Piece `json:"header,omitempty"` // of a column in a file of which parts read a piece: what holds its header
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
	return nil, nil, fail(fault.Usage, fmt.Sprintf("parts are counted from 0 to %d", p.Parts()-1), "the plan has no part %d", index)
}

// FileName is the name of the file of a part: its number and the plan that it belongs to.
func (p *Plan) FileName(t *Target, part *Part) string {
	return fmt.Sprintf("%s%05d-%s%s", partPrefix, part.Index, p.short(), t.Extension)
}

// Reads reports whether path is an input of t.
func (t *Target) Reads(path string) bool {
	return slices.ContainsFunc(t.Inputs, func(in Input) bool { return in.Path == path })
}

// partPrefix is what the names of parts begin with.
const partPrefix = "part-"

// short is the beginning of the ID, which is enough beside each other.
func (p *Plan) short() string { return p.ID[:8] }

// maxPlan is how long a plan may be, in bytes: some millions of parts.
const maxPlan = 1 << 30

// Write writes the plan to path, which must not exist unless it holds the same plan. If overwrite is
// set, it may hold another plan of which no parts were made: what they have left could not be removed
// any more.
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

// Read reads a plan, which is a file or in objects, and checks that it is whole. The parameters of its
// buckets are given to objects, where those have none.
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

// noPlan is the error for what is in the place of a plan and was not written by the program.
func noPlan(path, message string, values ...any) *fault.Error {
	return fail(fault.Malformed, "make it anew with idxport plan", message, values...).In(path)
}

// fail is a fault with what the user can do.
func fail(kind fault.Kind, advice, message string, values ...any) *fault.Error {
	return fault.New(kind, message, values...).WithHint("%s", advice)
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

// check refuses plans whose parts do not make up their tables: a hash says that nobody changed it, not
// who made it.
func (p *Plan) check(path string) error {
	if len(p.Targets) == 0 {
		return noPlan(path, "it has no targets")
	}
	index, paths := 0, map[string]bool{}
	for i := range p.Targets {
		t := &p.Targets[i]
		named := extension().MatchString(t.Extension) && plain().MatchString(t.Format) && plain().MatchString(t.Dataset)
		if t.Path == "" || paths[t.Path] || len(t.Parts) == 0 || !named {
			return noPlan(path, "target %d is %q with %d parts in format %q of the data set %q that end with %q, "+
				"expected a path of its own, parts, names, and an ending such as .parquet",
				i, t.Path, len(t.Parts), t.Format, t.Dataset, t.Extension)
		}
		paths[t.Path] = true
		if err := t.check(path, index); err != nil {
			return err
		}
		index += len(t.Parts)
	}
	return nil
}

// extension is what the extension of a part may be: no way out of its folder.
var extension = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.[A-Za-z0-9_]+)+$`) })

// plain is what formats and data sets may be called.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// check refuses inputs and parts that no plan has; index is that of the first part.
func (t *Target) check(path string, index int) error {
	for _, in := range t.Inputs {
		if (in.ETag != "") != object.IsURL(in.Path) {
			return noPlan(path, "found the ETag %q of %s, expected one of objects alone", in.ETag, in.Path)
		}
		if in.Header != nil && !in.Header.in(&in) {
			return noPlan(path, "the header of %s is its bytes %d to %d of %d", in.Path, in.Header.From, in.Header.To, in.Bytes)
		}
	}
	next := int64(0)
	for _, part := range t.Parts {
		if part.Index != index || part.First != next || part.Last < part.First || len(part.Pieces) != len(t.Inputs) {
			return noPlan(path, "part %d is rows %d to %d, expected part %d from row %d on", part.Index, part.First, part.Last, index, next)
		}
		for k := range part.Pieces {
			if piece, in := &part.Pieces[k], &t.Inputs[k]; !piece.in(in) {
				return noPlan(path, "part %d is made of the bytes %d to %d of %s, which has %d", index, piece.From, piece.To, in.Path, in.Bytes)
			}
		}
		index, next = index+1, part.Last
	}
	if next != t.Rows {
		return noPlan(path, "the parts of %s end at row %d of %d", t.Path, next, t.Rows)
	}
	return nil
}

// in reports whether a piece lies in the input.
func (p *Piece) in(in *Input) bool { return 0 <= p.From && p.From <= p.To && p.To <= in.Bytes }
