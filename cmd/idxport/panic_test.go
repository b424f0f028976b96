package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
)

// A defect anywhere in a command is exit code 70 and an object for --json, not a crash of Go with
// code 2.
func TestPanicIsReported(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
	command := &cli.Command{Name: "convert", Flags: cliFlags("convert"), Action: func(ctx context.Context, c *cli.Command) error {
		return p.reporting(ctx, c, func(*report) error { panic("a defect") })
	}, ExitErrHandler: func(context.Context, *cli.Command, error) {}}
	err := command.Run(context.Background(), []string{"convert", "--json", "x.idx"})
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
