package idx

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/idxport/idxport/test/must"
)

func TestErrorsAreRepeated(t *testing.T) {
	t.Parallel()
	broken := errors.New("flaky")
	file := images(t, 4, 4)
	flaky := io.MultiReader(bytes.NewReader(file[:20]), &once{err: broken}, bytes.NewReader(file[20:]))
	for name, in := range map[string]io.Reader{
		"reader":    flaky,
		"trailing":  bytes.NewReader(append(images(t, 4, 4), 1)),
		"truncated": bytes.NewReader(images(t, 5, 4)),
	} {
		rd := must.Get(NewReader(in, Options{}))(t)
		_, _, first := drain(rd, 3)
		n, again := rd.ReadRecords(make([]byte, 6), 1)
		if first == nil || n != 0 || again != first {
			t.Errorf("%s: found %v, then %d records and %v", name, first, n, again)
		}
	}
}

// once fails once, then ends.
type once struct{ err error }

func (o *once) Read([]byte) (int, error) {
	err := o.err
	o.err = io.EOF
	return 0, err
}

func TestSkipRefuses(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1, 1 << 62, 1<<63 - 1} {
		rd := must.Get(NewReader(bytes.NewBuffer(images(t, 0, 4)), Options{Salvage: true}))(t)
		if err := rd.Skip(n); err == nil {
			t.Errorf("skipped %d of 4 records", n)
		}
	}
}
