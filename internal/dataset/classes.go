package dataset

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source/idx"
)

// ReadClasses reads class names: classes[v] is the name of label v, empty if it has none. The file
// has a name per line, the first for label 0; a blank line leaves a label without a name, and blank
// lines at the end are ignored. fileName is used in errors.
//
// A byte order mark, CRLF and spaces around a name are removed. Numbered lines, perhaps after a
// header, are refused, as they may name other labels, and so is what otherNotation matches; but a
// space before the first line and no other says that these are names. Refused are also JSON, more
// than 1 MiB or 65,536 classes, text that is not UTF-8, control characters and repeated names.
func ReadClasses(r io.Reader, fileName string) (classes []string, err error) {
	const maxBytes, maxClasses = 1 << 20, 1 << 16 // the largest dictionary of labels has as many
	const hint, orSpace = "expected UTF-8 text with a class name per line, the first for label 0",
		"; if these are names, put a space before the first"
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fault.In(fileName, err)
	}
	text := bytes.TrimRight(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), " \t\r\n")
	lines := strings.Split(string(text), "\n")
	entries := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
	bad := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Malformed, format, args...).In(fileName).WithHint(hint)
	}
	foreign, _ := idx.Foreign(text, "class names")
	areNames := bytes.HasPrefix(text, []byte(" ")) && !bytes.Contains(text, []byte("\n "))
	switch {
	case len(raw) > maxBytes || len(lines) > maxClasses:
		return nil, bad("found %d lines, %d bytes, expected at most %d, %d", len(lines), len(raw), maxClasses, maxBytes)
	case len(text) == 0:
		return nil, bad("found no class names")
	case foreign != "":
		return nil, bad("%s", foreign) // its hint is for tables
	case json.Valid(text) && bytes.ContainsAny(text[:1], "[{"):
		return nil, bad("found JSON")
	case !areNames && (numbered(entries) || numbered(entries[min(1, len(entries)):])):
		return nil, bad("found numbers beside the names, as in %q", lines[len(lines)-1]).WithHint(hint + orSpace)
	case !areNames && otherNotation().Match(text):
		return nil, bad("found a header, a comment or another notation: %.40q", lines[0]).WithHint(hint + orSpace)
	}
	seen := map[string]int{}
	for i, line := range lines {
		name := strings.TrimSpace(line)
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return nil, bad("line %d: found %q, expected UTF-8 without control characters", i+1, name)
		} else if first, ok := seen[name]; ok && name != "" {
			return nil, bad("line %d: the name %q is already on line %d", i+1, name, first)
		}
		seen[name] = i + 1
		classes = append(classes, name)
	}
	return classes, nil
}

// otherNotation matches names after a header or a comment, in quotes or brackets, or with other
// signs. The classes of symbols may begin with a bracket, but hardly end with its partner.
var otherNotation = text.Pattern(`(?i)^(#[ \t]|((class|label)[ _]?)?(class|label|name|categor(y|ie))(e?s)?\s*:?\s*\n|` +
	`((- .*|["'].*["']|\S.*,)\s*\n)+.*$|` +
	`(\S.*)?(\[.*,.*\]|\[\s*\n(?s:.*)\]|\(\s*\n(?s:.*)\)|\{\s*\n(?s:.*)\})[,;]?$)`)

// besideName matches a line with a number before or after a name, and what is between them.
var besideName = text.Pattern(`^([0-9]+)([ \t,;:=)|]+|\.[^0-9])|([\t,;:=|] *| )([0-9]+)$`)

// numbered reports whether several lines have numbers alone, or each another number and name, which
// may be its label: all have signs between, one is 0, or one is 1 and few are missing.
func numbered(lines []string) bool {
	numbers, names, largest, onlyNumbers, signs := map[int]bool{}, map[string]bool{}, 0, true, true
	for _, line := range lines {
		line = strings.TrimSpace(line)
		m := besideName().FindStringSubmatch(line)
		if m == nil {
			return false
		}
		n, _ := strconv.Atoi(m[1] + m[4]) // the largest int instead of a larger number
		numbers[n], names[strings.TrimSuffix(strings.TrimPrefix(line, m[1]), m[4])] = true, true
		largest, signs = max(largest, n), signs && strings.ContainsAny(m[2]+m[3], "\t,;:=)|")
		onlyNumbers = onlyNumbers && strings.Trim(line, "0123456789 \t") == ""
	}
	mayBeLabels := signs || numbers[0] || numbers[1] && largest < 2*len(lines)
	return len(lines) > 1 && (onlyNumbers || mayBeLabels && min(len(numbers), len(names)) == len(lines))
}
