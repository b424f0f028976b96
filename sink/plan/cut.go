package plan

import (
	"context"
	"encoding/hex"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
)

// A reader reads until its context is done.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// readBuffer is how many bytes of a file are read at a time.
const readBuffer = 1 << 20

// hash sets the XXH3 of pieces of the input, a file.
func (in *Input) hash(ctx context.Context, pieces ...*Piece) error {
	f, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	buf := make([]byte, min(readBuffer, in.Bytes+1))
	for _, piece := range pieces {
		h := xxh3.New()
		if _, err := io.CopyBuffer(h, reader{ctx, io.NewSectionReader(f, piece.From, piece.To-piece.From)}, buf); err != nil {
			return err
		}
		sum := h.Sum128().Bytes()
		piece.XXH3 = hex.EncodeToString(sum[:])
	}
	return nil
}

// Hashed reports whether the bytes of the input are hashed as they are read: those of columns in
// files.
func (in *Input) Hashed() bool { return in.Column != "" && in.ETag == "" }

// Changed is the error for the input with index i if the bytes of a part differ from the plan.
func (t *Target) Changed(i int, part *Part) error {
	return fail(fault.Malformed, "make a new plan", "its header or its rows %d to %d have changed since the plan was made",
		part.First, part.Last).In(t.Inputs[i].Path)
}

// CheckInputs compares the files that a part is made of with the plan: the sizes of all, and the
// bytes of those that are not hashed as they are read. Objects are not checked: they are opened
// only in their planned version.
func (t *Target) CheckInputs(ctx context.Context, part *Part) error {
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if in.ETag != "" {
			continue
		}
		info, err := os.Stat(in.Path)
		if err != nil {
			return err
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
			return t.Changed(i, part)
		}
	}
	return nil
}

// Cut divides the rows of t into at least one part of at most perPart rows, with indices from index
// on. The bytes that rows are made of in the input with index i are those that span returns.
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
