package main

import (
	"encoding/json"
	"maps"
	"slices"
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
