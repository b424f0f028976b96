package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
)

// The format and version of plans.
const (
	format  = "idxport-plan"
	version = 2
)

// A Plan is a conversion divided into parts.
type Plan struct {
	Format     string            `json:"format"`
	Version    int               `json:"version"`
	ID         string            `json:"plan_id"`              // SHA-256 of the plan as JSON, with ID and Created empty
	Created    string            `json:"created"`              // RFC 3339
	Tool       string            `json:"tool"`                 // the program and its version: another may make different bytes
	Options    json.RawMessage   `json:"options"`              // options that the bytes of the parts depend on, see package convert
	Parameters map[string]string `json:"parameters,omitempty"` // query strings, which may name an endpoint, by the URL of the bucket
	Targets    []Target          `json:"targets"`

	// Objects is the store of targets and inputs that are named by URL.
	Objects *object.Store `json:"-"`

	path string // the file or object that it was read from
}

// A Target is one output: a folder of parts.
type Target struct {
	Path      string  `json:"path"`
	Format    string  `json:"format"`
	Extension string  `json:"extension"`       // of the parts
	Dataset   string  `json:"dataset"`         // the value of convert.Source.Dataset
	Split     string  `json:"split,omitempty"` // name of the split, if the options divide a split of the inputs and this is a piece of it
	Inputs    []Input `json:"inputs"`
	Rows      int64   `json:"rows"`
	Parts     []Part  `json:"parts"`
}

// An Input is a file, or one version of an object.
type Input struct {
	Path   string `json:"path"`
	Column string `json:"column,omitempty"` // name of the column; empty for the file of class names
	Bytes  int64  `json:"bytes"`            // size of the file
	ETag   string `json:"etag,omitempty"`   // version of an object
	Header *Piece `json:"header,omitempty"` // the header of the file, if each part reads only a piece of the file
	Whole  bool   `json:"whole,omitempty"`  // a part may read any row, so the whole file is compared before each part is made
}

// A Part is a range of rows, and the bytes of the inputs from which it is made.
type Part struct {
	Index  int     `json:"index"` // over all targets
	First  int64   `json:"first"`
	Last   int64   `json:"last"`   // exclusive
	Pieces []Piece `json:"pieces"` // one for each of Target.Inputs
}

// A Piece is a range of the bytes of an input.
type Piece struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`             // exclusive
	XXH3 string `json:"xxh3,omitempty"` // hash of the bytes, 128 bits; empty for an object, which is identified by its ETag
}

// Complete sets Format, Version, ID and Created, when all other fields are set.
func (p *Plan) Complete(created time.Time) {
	p.Format, p.Version = format, version
	p.ID = p.id()
	p.Created = created.UTC().Format(time.RFC3339)
}

// id returns the hash of the plan without its ID and time.
func (p *Plan) id() string {
	bare := *p
	bare.ID, bare.Created = "", ""
	text, _ := json.Marshal(bare) // strings and numbers cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Parts returns the number of parts of all targets.
func (p *Plan) Parts() int {
	n := 0
	for _, t := range p.Targets {
		n += len(t.Parts)
	}
	return n
}

// Part returns the part with the given index, and its target.
func (p *Plan) Part(index int) (*Target, *Part, error) {
	rest := index
	for i := range p.Targets {
		t := &p.Targets[i]
		if rest >= 0 && rest < len(t.Parts) {
			return t, &t.Parts[rest], nil
		}
		rest -= len(t.Parts)
	}
	hint := "its only part is 0"
	if p.Parts() > 1 {
		hint = fmt.Sprintf("its parts are 0 to %d", p.Parts()-1)
	}
	return nil, nil, fail(fault.Usage, hint, "the plan has no part %d", index)
}

// partPrefix is the beginning of the names of parts.
const partPrefix = "part-"

// FileName returns the name of the file of a part, which has the part's index and the plan's ID.
func (p *Plan) FileName(t *Target, part *Part) string {
	return fmt.Sprintf("%s%05d-%s%s", partPrefix, part.Index, p.short(), t.Extension)
}

// short returns the beginning of the ID, which distinguishes the plans of one target.
func (p *Plan) short() string { return p.ID[:8] }

// invalid returns the error for a file that is not a valid plan.
func invalid(path, message string, values ...any) *fault.Error {
	return fail(fault.Malformed, "make it again with idxport plan", message, values...).In(path)
}

// fail returns a fault with a hint.
func fail(kind fault.Kind, hint, message string, values ...any) *fault.Error {
	return fault.New(kind, message, values...).WithHint("%s", hint)
}

// Formats and data sets have plain names, and the extension of a part must not lead out of its
// folder.
var (
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })
	extension = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.[A-Za-z0-9_]+)+$`) })
)

// check returns an error unless the parts of each target make up its table. The ID does not prove
// that: it shows that the plan was not changed, but not who made it.
func (p *Plan) check(path string) error {
	if len(p.Targets) == 0 {
		return invalid(path, "it has no targets")
	}
	index, paths := 0, map[string]bool{}
	for i := range p.Targets {
		t := &p.Targets[i]
		validNames := extension().MatchString(t.Extension) && plainName().MatchString(t.Format) && plainName().MatchString(t.Dataset)
		if t.Path == "" || paths[t.Path] || len(t.Parts) == 0 || !validNames {
			return invalid(path, "target %d is %q with %d parts in format %q of the data set %q with the extension %q, "+
				"expected a path that no other target has, at least one part, names of letters, digits, _ and -, and an extension such as .parquet",
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

// check returns an error for inputs and parts that are not valid. index is that of the first part.
func (t *Target) check(path string, index int) error {
	for _, in := range t.Inputs {
		if (in.ETag != "") != object.IsURL(in.Path) {
			return invalid(path, "found the ETag %q of %s, expected one for objects only", in.ETag, in.Path)
		}
		if in.Header != nil && !in.Header.within(&in) {
			return invalid(path, "the header of %s has the bytes %d:%d, expected them within its %d bytes", in.Path, in.Header.From, in.Header.To, in.Bytes)
		}
	}
	next := int64(0)
	for _, part := range t.Parts {
		if part.Index != index || part.First != next || part.Last < part.First || len(part.Pieces) != len(t.Inputs) {
			return invalid(path, "part %d is rows %d:%d, expected part %d from row %d on", part.Index, part.First, part.Last, index, next)
		}
		for k := range part.Pieces {
			if piece, in := &part.Pieces[k], &t.Inputs[k]; !piece.within(in) {
				return invalid(path, "part %d is made of the bytes %d:%d of %s, which has only %d", index, piece.From, piece.To, in.Path, in.Bytes)
			}
		}
		index, next = index+1, part.Last
	}
	if next != t.Rows {
		return invalid(path, "the parts of %s end at row %d of %d", t.Path, next, t.Rows)
	}
	return nil
}

// within reports whether the input has all bytes of the piece.
func (p *Piece) within(in *Input) bool { return 0 <= p.From && p.From <= p.To && p.To <= in.Bytes }

// A contextReader reads until its context is done.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// readBuffer is how many bytes of a file are read at a time.
const readBuffer = 1 << 20

// hash sets the XXH3 of pieces of the input, which must be a file.
func (in *Input) hash(ctx context.Context, pieces ...*Piece) error {
	f, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer f.Close() // read-only: an error does not matter
	buf := make([]byte, min(readBuffer, in.Bytes+1))
	for _, piece := range pieces {
		h := xxh3.New()
		if _, err := io.CopyBuffer(h, contextReader{ctx, io.NewSectionReader(f, piece.From, piece.To-piece.From)}, buf); err != nil {
			return err
		}
		sum := h.Sum128().Bytes()
		piece.XXH3 = hex.EncodeToString(sum[:])
	}
	return nil
}

// Hashed reports whether a part hashes the bytes of the input while it reads them. This is so for
// columns in files of which each part reads only a piece.
func (in *Input) Hashed() bool { return in.Column != "" && in.ETag == "" && !in.Whole }

// ChangedError returns the error for input i, whose bytes were found to differ from the plan.
func (t *Target) ChangedError(i int, part *Part) error {
	return fail(fault.Malformed, "make a new plan", "its header or its rows %d:%d have changed since the plan was made",
		part.First, part.Last).In(t.Inputs[i].Path)
}

// CheckInputs compares the files that a part reads with the plan: the sizes of all, and the bytes
// of those that are not hashed while they are read. Objects are not checked: they are opened only
// in their planned version.
func (t *Target) CheckInputs(ctx context.Context, part *Part) error {
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if in.ETag != "" {
			continue
		}
		info, err := os.Stat(in.Path)
		if err != nil {
			return fault.In(in.Path, err)
		}
		if info.Size() != in.Bytes {
			return fail(fault.Malformed, "make a new plan", "found %d bytes, expected %d as when the plan was made", info.Size(), in.Bytes).In(in.Path)
		}
		if in.Hashed() {
			continue
		}
		found := part.Pieces[i]
		if err := in.hash(ctx, &found); err != nil {
			return err
		}
		if found != part.Pieces[i] {
			return t.ChangedError(i, part)
		}
	}
	return nil
}

// Cut divides the rows of t into parts of at most perPart rows or, if perPart is less than 1, makes
// them one part. A table without rows has one part, too. The parts have indices from index on. span
// returns the range of bytes of input i that has the rows of a part. Cut hashes these ranges and
// the headers of the inputs that are files.
func (t *Target) Cut(ctx context.Context, perPart int64, index int, span func(i int, first, last int64) (from, to int64)) error {
	if perPart < 1 || perPart > t.Rows {
		perPart = max(1, t.Rows)
	}
	for first := int64(0); first == 0 || first < t.Rows; first += perPart {
		part := Part{Index: index + len(t.Parts), First: first, Last: min(first+perPart, t.Rows)}
		for i := range t.Inputs {
			piece := Piece{}
			piece.From, piece.To = span(i, part.First, part.Last)
			part.Pieces = append(part.Pieces, piece)
		}
		t.Parts = append(t.Parts, part)
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if in.ETag != "" { // identifies the bytes
			continue
		}
		var pieces []*Piece
		if in.Header != nil {
			pieces = append(pieces, in.Header)
		}
		for k := range t.Parts {
			pieces = append(pieces, &t.Parts[k].Pieces[i])
		}
		if err := in.hash(ctx, pieces...); err != nil {
			return err
		}
	}
	return nil
}
