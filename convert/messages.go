package convert

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
)

// An Error has a Kind, such as "differs" or "not found", a Msg, a Hint and a place: Path, Column,
// Row and Offset. errors.As finds it.
type Error = fault.Error

// usagef returns an error about options that are wrong or contradict each other or the inputs.
func usagef(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }

// unknown returns the error for a name that is not in known; kind is the noun for such names.
func unknown(kind, name string, known []string) error {
	return usagef("unknown %s %q, expected one of %s", kind, name, strings.Join(known, ", ")).
		WithHint("%s", text.DidYouMean(name, known))
}

// noLabels returns the error for a flag that needs labels, which the columns do not have.
func noLabels(flag string, columns []source.Column) error {
	unfit := func(c source.Column) bool { return c.Elements() != 1 || !c.Integer() }
	hint := "with --columns, add label; or give the labels as label=FILE, as single integers: labels.argmax(1) in NumPy"
	if names := source.Names(slices.DeleteFunc(slices.Clone(columns), unfit)); names != nil {
		hint = "choose one with --label-column: " + strings.Join(names, ", ")
	}
	return usagef("%s: no column holds labels", flag).WithHint("%s", hint)
}

// aboutSplit adds the name of the split s to an error of the kind fault.Usage that names no file,
// if s is one of several splits: all. Others may have a column that s lacks. Other errors stay.
func aboutSplit(err error, s dataset.Split, all []dataset.Split) error {
	found, ok := errors.AsType[*fault.Error](err)
	if len(all) < 2 || !ok || found.Kind != fault.Usage || found.Path != "" {
		return err
	}
	e := *found
	e.Msg = splitTitle(s) + ": " + e.Msg
	if errors.Is(err, fault.NotFound) {
		e.Hint = cmp.Or(e.Hint, "if only this split differs, choose others with --split")
	}
	return &e
}

// alternativeTable has what idxport leaves to other tools or does by another name. An entry has a
// line of the names of flags and extensions, and a hint; or these names, a line of the tool and the
// format that it reads, and a line of Python that is also in docs/recipes.md, where it is tested.
//
//go:embed alternatives.txt
var alternativeTable string

// Alternative returns a hint for a flag (without --) or file extension (with its dot) that idxport
// lacks: which other tool or flag does that. For any other name it returns "".
func Alternative(name string) string {
	for entry := range strings.SplitSeq(strings.TrimSpace(alternativeTable), "\n\n") {
		lines := strings.Split(entry, "\n")
		if !slices.Contains(strings.Fields(lines[0]), strings.ToLower(name)) {
			continue
		}
		if len(lines) == 2 {
			return lines[1]
		}
		tool, format, _ := strings.Cut(lines[1], " ")
		return fmt.Sprintf("%s does that: convert with -o out --to %s, then in Python, with the names that "+
			"convert prints: %s", tool, format, lines[2])
	}
	return ""
}

// splitTitle returns how messages call s. Without a name it has the stem of its files.
func splitTitle(s dataset.Split) string {
	if s.Name != "" {
		return "split " + s.Name
	}
	return s.Stem
}
