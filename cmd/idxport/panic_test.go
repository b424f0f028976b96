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
	stdout, code := ownPanic()
	if code != exitInternal {
		t.Errorf("found exit code %d, expected %d", code, exitInternal)
	}
	if !bytes.Contains(stdout, []byte(`"code":"internal"`)) || !bytes.Contains(stdout, []byte("please report it")) {
		t.Errorf("found %s", stdout)
	}
}

// ownPanic is a run that meets a defect.
func ownPanic() ([]byte, int) {
	var stdout bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &stdout, stderr: io.Discard}
	ctx, r := context.Background(), p.newReport("convert")
	c := command{name: "convert", run: func(context.Context, *report) error { panic("a defect") }}
	code := r.end(ctx, pipeline.Recover(func() error { return c.start(ctx, r, []string{"--json", "x.idx"}) }))
	return stdout.Bytes(), code
}
