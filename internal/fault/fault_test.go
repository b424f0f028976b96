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
	cause := errors.New("the cause")
	for _, c := range []struct {
		name string
		err  error
		text string
		hint string
		kind fault.Kind
	}{
		{"nothing but a kind", fault.New(fault.Truncated, ""), "truncated input", "", fault.Truncated},
		{"a place",
			fault.New(fault.Malformed, "found %d", 3).At(12).InRow(0).InColumn("label").In("a.csv").WithHint("try %s",
				"this"),
			"a.csv: column label, row 0, at byte 12: found 3", "try this", fault.Malformed},
		{"standard input", fault.New(fault.Usage, "no").In("-"), "standard input: no", "", fault.Usage},
		{"a cause", fault.Wrap(fault.IO, cause).In("x"), "x: the cause", "", fault.IO},
		{"a message over the cause", fault.New(fault.IO, "found it").Because(cause), "found it", "", fault.IO},
		{"a path around a fault", fault.In("x", fault.New(fault.Truncated, "ends")), "x: ends", "", fault.Truncated},
		{"a second path", fault.In("y", fault.In("x", fault.New(fault.Truncated, "ends"))), "x: ends", "",
			fault.Truncated},
		{"a path around text around a fault",
			fault.In("x", fmt.Errorf("second: %w", fault.New(fault.Truncated, "ends").WithHint("h"))),
			"x: second: ends", "h", fault.Truncated},
		{"a path around an error of the system",
			fault.In("x", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}), "x: file does not exist", "",
			fault.NotFound},
		{"the outer kind and hint",
			fmt.Errorf("a: %w", fault.New(fault.Refused, "out").Because(fault.New(fault.IO, "in").WithHint("inner"))),
			"a: out", "inner", fault.Refused},
	} {
		if got := c.err.Error(); got != c.text {
			t.Errorf("%s: found %q, expected %q", c.name, got, c.text)
		}
		if got := fault.HintOf(c.err); got != c.hint {
			t.Errorf("%s: found hint %q, expected %q", c.name, got, c.hint)
		}
		if got := fault.KindOf(c.err); got != c.kind {
			t.Errorf("%s: found %v, expected %v", c.name, got, c.kind)
		}
		if c.kind != fault.NotFound && !errors.Is(c.err, c.kind) {
			t.Errorf("%s: errors.Is does not find %v", c.name, c.kind)
		}
		if errors.Is(c.err, fault.Changed) {
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
		fault.Changed:    {fmt.Errorf("x: %w", fault.Changed)},
		fault.Internal:   {errors.New("x"), &fault.Error{Err: errors.New("x")}},
	} {
		for _, err := range errs {
			if got := fault.KindOf(err); got != kind {
				t.Errorf("%v: found %v, expected %v", err, got, kind)
			}
		}
	}
}
