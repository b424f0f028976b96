package main

import (
	"bytes"
	"testing"
)

// Every flag of every command is completed, whatever is added.
func TestCompletionOfFlags(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		var want, stdout, stderr bytes.Buffer
		for _, f := range flagsOf(c.name) {
			want.WriteString("--" + f.name + ":" + f.usage + "\n")
		}
		want.WriteString("--help:show help\n")
		code := run([]string{"idxport", c.name, "x", "-", completionFlag}, nil, &stdout, &stderr)
		if code != 0 || stderr.Len() > 0 || stdout.String() != want.String() {
			t.Errorf("%s: exit code %d, found %s%s, expected %s", c.name, code, &stdout, &stderr, &want)
		}
	}
}
