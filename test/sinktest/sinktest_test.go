package sinktest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// A plain sink writes the bytes of every batch, column by column. Its defect, if it has one, breaks
// the contract.
type plain struct {
	defect string
	mu     sync.Mutex
	out    bytes.Buffer
	count  byte   // of calls of Encode
	kept   []byte // of the last batch
}

func (p *plain) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	switch p.defect {
	case "writes to the batch":
		b.Columns[0][0]++
	case "writes in Encode":
		p.write(b)
		return func() error { return nil }, nil
	case "counts in Encode":
		n := p.count
		return func() error { p.out.WriteByte(n); return nil }, nil
	case "keeps the batch":
		return func() error { p.out.Write(p.kept); p.kept = b.Columns[0]; return nil }, nil
	case "has no step":
		return nil, nil
	case "fails when cancelled":
		if ctx.Err() != nil {
			return nil, errDefect
		}
	}
	return func() error { p.write(b); return nil }, nil
}

func (p *plain) write(b schema.Batch) {
	for _, data := range b.Columns {
		p.out.Write(data)
	}
}

func (p *plain) Close() error {
	p.out.Write(p.kept)
	if p.defect == "fails without rows" && p.count == 0 {
		return errDefect
	}
	return nil
}

func (p *plain) BatchSize(rows int) int64 {
	if p.defect == "needs less for more" {
		return 100 - int64(rows)
	}
	return int64(rows)
}

var errDefect = context.DeadlineExceeded

func openPlain(defect string) Open {
	return func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
		p := &plain{defect: defect}
		if defect == "needs the rows" && s.Rows < 0 {
			return nil, nil, fault.Usage
		}
		return p, func() map[string][]byte { return map[string][]byte{"out": p.out.Bytes()} }, nil
	}
}

func TestSoundSinksPass(t *testing.T) {
	t.Parallel()
	Run(t, openPlain(""), Images(), Unlabelled(), Numbers(), Single(), Empty())
	t.Run("needs the rows", func(t *testing.T) {
		t.Parallel()
		Run(t, openPlain("needs the rows"), Images())
	})
}

func TestDefectsAreFound(t *testing.T) {
	t.Parallel()
	for defect, expected := range map[string][]string{
		"writes to the batch":  {"batches backwards", "batches at once", "steps that never run"},
		"writes in Encode":     {"batches backwards"},
		"counts in Encode":     {"batches backwards"},
		"keeps the batch":      {"batches backwards", "batches at once"},
		"has no step":          {"batches backwards", "batches at once", "steps that never run", "cancelled"},
		"fails when cancelled": {"cancelled"},
		"fails without rows":   {"no rows"},
		"needs less for more":  {"batch size"},
	} {
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			c := &contract{table: Images().fill(), open: openPlain(defect)}
			sound := &contract{table: Images().fill(), open: openPlain("")}
			var err error
			if c.want, err = c.serial(t, c.table.batches()); err != nil {
				c.want, _ = sound.serial(t, sound.table.batches())
			}
			for _, check := range checks() {
				if !slices.Contains(expected, check.name) {
					continue
				}
				if err := check.run(c, t); err == nil {
					t.Errorf("%s: found no error", check.name)
				}
			}
		})
	}
}

func TestForgottenWriteErrorsAreFound(t *testing.T) {
	t.Parallel()
	for defect, found := range map[string]bool{"": false, "forgets": true} {
		err := writeErrors(func(w io.Writer, _ *schema.Schema) (sink.Sink, error) {
			return &forgetful{w: w, forgets: defect != ""}, nil
		}, Images().fill())
		if (err != nil) != found {
			t.Errorf("%q: found the error %v", defect, err)
		}
	}
}

// A forgetful sink writes one byte per batch and may ignore the error.
type forgetful struct {
	w       io.Writer
	forgets bool
}

func (f *forgetful) Encode(context.Context, schema.Batch) (func() error, error) {
	return func() error {
		if _, err := f.w.Write([]byte{1}); !f.forgets {
			return err
		}
		return nil
	}, nil
}

func (f *forgetful) Close() error { return nil }
