package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// verifiedReport describes an output that equals its inputs.
type verifiedReport struct {
	Path    string   `json:"path"`
	Split   string   `json:"split,omitempty"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"`
	Missing []string `json:"missing,omitempty"` // columns of the inputs that the output has no place for
}

// verified tells of an output that equals its inputs.
func (r *report) verified(path, split string, v verified) {
	r.Verified = append(r.Verified, verifiedReport{Path: path, Split: split, Rows: v.rows, Columns: v.columns, Missing: v.missing})
	if len(v.missing) > 0 {
		r.note("%s: it does not hold %s", path, strings.Join(v.missing, ", "))
	}
	r.tell("verified", fmt.Sprintf("%s  %s equal: %s", filepath.ToSlash(path), counted(v.rows, "row"), strings.Join(v.columns, ", ")))
}
