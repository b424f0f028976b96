package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/idxport/idxport/convert"
)

// A defect anywhere in a command is exit code 70 and an object for --json, not a crash of Go with
// code 2.
func TestPanicIsReported(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
	p.words = []string{"--json", "x.idx"}
	err := p.reporting(context.Background(), "convert", func(*report) error { panic("a defect") })
	if err != error(reported{exitInternal}) {
		t.Errorf("found %v, expected exit code %d", err, exitInternal)
	}
	if !strings.Contains(stdout.String(), `"code":"internal"`) || !strings.Contains(stderr.String(), "please report it") {
		t.Errorf("found %s and %s", &stdout, &stderr)
	}
}

func TestPanicWhileOpeningIsAnError(t *testing.T) {
	t.Parallel()
	_, err := convert.Interruptible(context.Background(), func() (int, error) { panic("a defect") })
	if exitCode(err) != exitInternal {
		t.Errorf("found %v", err)
	}
}
