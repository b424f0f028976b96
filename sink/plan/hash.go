package plan

import (
	"context"
	"encoding/hex"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// block is how much of a file is read at a time.
const block = 1 << 20

// hash is the XXH3, 128 bits, of a range of the bytes of a file.
func hash(ctx context.Context, path string, from, to int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read from
	h := xxh3.New()
	if _, err := readInto(ctx, h, io.NewSectionReader(f, from, to-from)); err != nil {
		return "", err
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), nil
}

// readInto reads r to its end into a hash, until ctx is done, and returns how many bytes there were.
func readInto(ctx context.Context, h io.Writer, r io.Reader) (n int64, err error) {
	buf := make([]byte, block)
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

// Hashed tells whether the bytes of the input are compared as they are read: those of columns in files.
func (in *Input) Hashed() bool { return in.Column != "" && in.ETag == "" }

// Changed is the error for the input of index i, of which a part is not what it was.
func (t *Target) Changed(i int, part *Part) error {
	return fail(ErrInput, "make a new plan", "%s: rows %d to %d are not those that the plan was made of", t.Inputs[i].Path, part.First, part.Last)
}

// CheckInputs compares the files that a part is made of with what they were when the plan was made: the sizes of all, and the bytes of those that are no columns.
// The bytes of columns are compared as they are read, and objects are opened as the version that they were.
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
			return fail(ErrInput, "make a new plan", "%s: found %d bytes, expected the %d that the plan was made of", in.Path, info.Size(), in.Bytes)
		}
		if in.Column != "" {
			continue
		}
		found, err := hash(ctx, in.Path, part.Pieces[i].From, part.Pieces[i].To)
		if err != nil {
			return err
		}
		if found != part.Pieces[i].XXH3 {
			return t.Changed(i, part)
		}
	}
	return nil
}

// Cut divides rows into parts of at most so many, from index on. There is one at least. span tells which bytes of the input of index i rows are made of.
func (t *Target) Cut(ctx context.Context, perPart int64, index int, span func(i int, first, last int64) (from, to int64)) error {
	if perPart < 1 || perPart > t.Rows {
		perPart = max(1, t.Rows)
	}
	for first := int64(0); first == 0 || first < t.Rows; first += perPart {
		part := Part{Index: index + len(t.Parts), First: first, Last: min(first+perPart, t.Rows)}
		for i, in := range t.Inputs {
			piece := Piece{}
			piece.From, piece.To = span(i, part.First, part.Last)
			if in.ETag == "" {
				sum, err := hash(ctx, in.Path, piece.From, piece.To)
				if err != nil {
					return err
				}
				piece.XXH3 = sum
			}
			part.Pieces = append(part.Pieces, piece)
		}
		t.Parts = append(t.Parts, part)
	}
	return nil
}
