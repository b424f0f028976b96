package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

func TestError(t *testing.T) {
	t.Parallel()
	cause, ends := errors.New("the cause"), fault.New(fault.Truncated, "ends")
	inner := fault.New(fault.IO, "in").WithHint("inner")
	for _, c := range []struct {
		name string
		err  error
		text string
		hint string
		kind fault.Kind
	}{
		{"nothing but a kind", fault.New(fault.Truncated, ""), "truncated input", "", fault.Truncated},
		{"a place", fault.New(fault.Malformed, "found %d", 3).At(12).InRow(0).InColumn("label").In("a.csv").
			WithHint("try %s", "this"), "a.csv: column label, row 0, at byte 12: found 3", "try this", fault.Malformed},
		{"standard input", fault.New(fault.Usage, "no").In("-"), "standard input: no", "", fault.Usage},
		{"a cause", fault.New(fault.IO, "").Because(cause).In("x"), "x: the cause", "", fault.IO},
		{"a message over the cause", fault.New(fault.IO, "found it").Because(cause), "found it", "", fault.IO},
		{"a path around a fault", fault.In("x", ends), "x: ends", "", fault.Truncated},
		{"a second path", fault.In("y", fault.In("x", ends)), "x: ends", "", fault.Truncated},
		{"a path around text around a fault", fault.In("x", fmt.Errorf("second: %w", inner)), "x: second: in", "inner",
			fault.IO},
		{"a path around an error of the system", fault.In("x", &fs.PathError{Path: "x", Err: fs.ErrNotExist}),
			"x: file does not exist", "", fault.NotFound},
		{"the outer kind and the inner hint", fmt.Errorf("a: %w", fault.New(fault.Refused, "out").Because(inner)),
			"a: out", "inner", fault.Refused},
		{"the outer hint", fault.New(fault.IO, "out").Because(inner).WithHint("outer"), "out", "outer", fault.IO},
	} {
		text, hint, kind := c.err.Error(), fault.HintOf(c.err), fault.KindOf(c.err)
		if text != c.text || hint != c.hint || kind != c.kind {
			t.Errorf("%s: found %q, %q, %v, expected %q, %q, %v", c.name, text, hint, kind, c.text, c.hint, c.kind)
		}
		if errors.Is(c.err, c.kind) != (c.kind != fault.NotFound) || errors.Is(c.err, fault.Changed) {
			t.Errorf("%s: errors.Is reports the wrong kind", c.name)
		}
	}
	if fault.In("x", nil) != nil || fault.HintOf(nil) != "" {
		t.Error("a nil error became an error or has a hint")
	}
}

// TestKindOf tests errors that are not of type Error.
func TestKindOf(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(t.TempDir() + "/missing")
	for kind, errs := range map[fault.Kind][]error{
		"":               {nil},
		fault.NotFound:   {missing, syscall.ENOTDIR, syscall.ELOOP, &fs.PathError{Err: syscall.ENAMETOOLONG}},
		fault.Permission: {fs.ErrPermission, syscall.EACCES, fmt.Errorf("x: %w", syscall.EROFS)},
		fault.IO:         {syscall.EIO, syscall.ENOSPC, io.ErrShortWrite, &fs.PathError{Err: errors.New("odd")}},
		fault.Canceled:   {fmt.Errorf("x: %w", context.Canceled)},
		fault.Internal:   {errors.New("x"), &fault.Error{Err: errors.New("x")}},
	} {
		for _, err := range errs {
			if got := fault.KindOf(err); got != kind {
				t.Errorf("%v: found %v, expected %v", err, got, kind)
			}
		}
	}
}
