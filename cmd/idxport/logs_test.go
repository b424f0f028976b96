package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkLogLine demands a message as --json writes it: an object with a time, a level, a message and
// no more than a hint.
func checkLogLine(t *testing.T, line string) {
	t.Helper()
	entry := map[string]string{}
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		t.Errorf("%v: %q", err, line)
		return
	}
	if _, err := time.Parse(time.RFC3339, entry["time"]); err != nil {
		t.Errorf("%v: %q", err, line)
	}
	if !slices.Contains([]string{"note", "warning", "error", "wrote", "verified"}, entry["level"]) || entry["message"] == "" {
		t.Errorf("found the level %q and the message %q", entry["level"], entry["message"])
	}
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		if !slices.Contains([]string{"time", "level", "message", "hint"}, name) {
			t.Errorf("found the field %s", name)
		}
	}
}

// TestQuiet demands that a run with -q that succeeds writes nothing but data and warnings, and that
// one without a terminal draws nothing.
func TestQuiet(t *testing.T) {
	t.Parallel()
	for _, test := range jsonRuns() {
		if test.exit != 0 {
			continue
		}
		for _, flag := range []string{"-q", "--quiet=false"} {
			t.Run(test.name+" "+flag, func(t *testing.T) {
				t.Parallel()
				var stdout, stderr bytes.Buffer
				args := slices.Concat([]string{"idxport"}, test.in(t.TempDir()), []string{flag})
				if code := run(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
					t.Errorf("found exit code %d: %s", code, &stderr)
				}
				lines := slices.DeleteFunc(strings.SplitAfter(stderr.String(), "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "warning: ") })
				if flag == "-q" && len(lines) > 0 || strings.ContainsAny(stderr.String(), "\r\x1b") {
					t.Errorf("found %q on standard error", &stderr)
				}
				if test.args[0] != "inspect" && stdout.Len() > 0 {
					t.Errorf("found %q on standard output", &stdout)
				}
			})
		}
	}
}
