package plan

import (
	"context"
	"encoding/hex"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// piece is how much of a file is read at a time.
const piece = 1 << 20

// Hash is the XXH3, 128 bits, of the bytes of a part in the input at path.
func (in *Input) Hash(ctx context.Context, first, last int64) (string, error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read from
	from, size := in.Range(&Part{First: first, Last: last})
	h := xxh3.New()
	if _, err := readInto(ctx, h, io.NewSectionReader(f, from, size)); err != nil {
		return "", err
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), nil
}

// readInto reads r to its end into a hash, until ctx is done, and returns how many bytes there were.
func readInto(ctx context.Context, h io.Writer, r io.Reader) (n int64, err error) {
	buf := make([]byte, piece)
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

// Range is where the bytes of a part are: all of a file that is read as a whole.
func (in *Input) Range(part *Part) (from, size int64) {
	if in.Record == 0 {
		return 0, in.Bytes
	}
	return in.Header + part.First*in.Record, (part.Last - part.First) * in.Record
}

// Changed is the error for the input of index i, of which a part is not what it was.
func (t *Target) Changed(i int, part *Part) error {
	return fail(ErrInput, "make a new plan", "%s: rows %d to %d are not those that the plan was made of", t.Inputs[i].Path, part.First, part.Last)
}

// CheckInputs compares the inputs of a part with what they were when the plan was made: the sizes of all, and the bytes of those that are no columns. The bytes
// of columns are compared as they are read.
func (t *Target) CheckInputs(ctx context.Context, part *Part) error {
	for i := range t.Inputs {
		in := &t.Inputs[i]
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
		found, err := in.Hash(ctx, part.First, part.Last)
		if err != nil {
			return err
		}
		if found != part.Hashes[i] {
			return t.Changed(i, part)
		}
	}
	return nil
}

// Cut divides rows into parts of at most so many, from index on. There is one at least.
func (t *Target) Cut(ctx context.Context, perPart int64, index int) error {
	if perPart < 1 || perPart > t.Rows {
		perPart = max(1, t.Rows)
	}
	for first := int64(0); first == 0 || first < t.Rows; first += perPart {
		part := Part{Index: index + len(t.Parts), First: first, Last: min(first+perPart, t.Rows)}
		for i := range t.Inputs {
			sum, err := t.Inputs[i].Hash(ctx, part.First, part.Last)
			if err != nil {
				return err
			}
			part.Hashes = append(part.Hashes, sum)
		}
		t.Parts = append(t.Parts, part)
	}
	return nil
}
