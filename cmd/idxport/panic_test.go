package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/pipeline"
)

// A defect anywhere in a command is exit code 70 and an object for --json, not a crash of Go with
// code 2.
func TestPanicIsReported(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	ctx, r := context.Background(), newReport("convert", strings.NewReader(""), &stdout, io.Discard)
	c := command{name: "convert", run: func(context.Context, *report) error { panic("a defect") }}
	code := r.end(ctx, pipeline.Recover(func() error { return c.start(ctx, r, []string{"--json", "x.idx"}) }))
	follows(t, stdout.Bytes(), code, exitInternal)
	if !strings.Contains(stdout.String(), "please report it") {
		t.Errorf("found %s", &stdout)
	}
}
