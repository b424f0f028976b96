package plan

import (
	"context"
	"encoding/hex"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
)

// block is how much of a file is read at a time.
const block = 1 << 20

// readInto reads r to its end into a hash, until ctx is done, and returns how many bytes there
// were.
func readInto(ctx context.Context, h io.Writer, r io.Reader) (n int64, err error) {
	size := int64(block)
	if s, ok := r.(interface{ Size() int64 }); ok {
		size = max(1, min(size, s.Size()))
	}
	buf := make([]byte, size)
	for {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		k, err := r.Read(buf)
		_, _ = h.Write(buf[:k]) // a hash takes everything
		n += int64(k)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// hash sets the XXH3, 128 bits, of pieces of the input, which is a file.
func (in *Input) hash(ctx context.Context, pieces ...*Piece) error {
	f, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	for _, piece := range pieces {
		h := xxh3.New()
		if _, err := readInto(ctx, h, io.NewSectionReader(f, piece.From, piece.To-piece.From)); err != nil {
			return err
		}
		sum := h.Sum128().Bytes()
		piece.XXH3 = hex.EncodeToString(sum[:])
	}
	return nil
}

// Hashed reports whether the bytes of the input are compared as they are read: those of columns in
// files.
func (in *Input) Hashed() bool { return in.Column != "" && in.ETag == "" }

// Changed is the error for the input of index i, of which a part is not what it was.
func (t *Target) Changed(i int, part *Part) error {
	return fail(fault.Malformed, "make a new plan", "its header or its rows %d to %d are not those that the plan was made of",
		part.First, part.Last).In(t.Inputs[i].Path)
}

// CheckInputs compares the files that a part is made of with what they were when the plan was made:
// the sizes of all, and the bytes of those that are no columns. The bytes of columns are compared
// as they are read, and objects are opened as the version that they were.
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
			return fail(fault.Malformed, "make a new plan", "found %d bytes, expected the %d that the plan was made of",
				info.Size(), in.Bytes).In(in.Path)
		}
		if in.Column != "" {
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

// Cut divides rows into parts of at most so many, from index on. There is one at least. span tells
// which bytes of the input of index i rows are made of.
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
		if in.ETag != "" { // an object is known by it
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
