package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// Limits of a file of class names.
const (
	maxClassBytes = 1 << 20
	maxClasses    = 1 << 16 // the largest dictionary of labels
)

// ReadClasses reads class names: classes[v] is the name of label v, empty if it has none. fileName
// is used in errors. The file has one of these formats:
//
//   - a name per line, the first for label 0; a blank line leaves a label without a name, and
//     blank lines at the end are ignored;
//   - EMNIST's mapping, detected by its first line, with "label code point" per line: "0 48" names
//     label 0 "0". If a label has two code points, capital and small letter, the first one is used
//     and note says so;
//   - KMNIST's class map, a CSV file that begins with "index,codepoint,char".
//
// JSON is refused. Lines numbered from 0 or 1, perhaps after a header, as in CSV, are refused too:
// read as names they would contain the numbers, and might belong to other labels. A byte order
// mark, CRLF and spaces around a name are removed. More than 1 MiB or 65,536 classes, text that is
// not UTF-8, control characters, and repeated names or labels are refused.
func ReadClasses(r io.Reader, fileName string) (classes []string, note string, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxClassBytes+1))
	if err != nil {
		return nil, "", fault.In(fileName, err)
	}
	if len(text) > maxClassBytes {
		return nil, "", badClasses(fileName, "found more than %d bytes, too many for class names", maxClassBytes)
	}
	text = bytes.TrimRight(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 {
		return nil, "", badClasses(fileName, "found no class names")
	}
	if message, hint := idx.WebPage(text, "class names"); message != "" {
		return nil, "", fault.New(fault.Malformed, "%s", message).WithHint("%s", hint).In(fileName)
	}
	lines := strings.Split(string(text), "\n")
	parse, skip := classFormat(strings.TrimSpace(lines[0]))
	switch {
	case json.Valid(text) && (text[0] == '[' || text[0] == '{'):
		return nil, "", badClasses(fileName, "found JSON")
	case parse == nil && (numbered(lines) || numbered(lines[1:])):
		return nil, "", badClasses(fileName, "found numbers beside the names, as in %q", strings.TrimSpace(lines[len(lines)-1]))
	case parse == nil:
		parse = plainLine
	}
	c := classList{parse: parse, lines: map[string]int{}}
	for i := skip; i < len(lines); i++ {
		if err := c.add(i, strings.TrimSpace(lines[i])); err != nil {
			return nil, "", badClasses(fileName, "line %d: %v", i+1, err)
		}
	}
	if c.alternatives {
		note = fmt.Sprintf("%s has two characters for some labels; the first is used", fileName)
	}
	return c.names, note, nil
}

func badClasses(fileName, format string, args ...any) error {
	return fault.New(fault.Malformed, format, args...).In(fileName).
		WithHint(`expected UTF-8 text with a class name per line, the first for label 0, or EMNIST's mapping file: a label and a Unicode code point per line, such as "0 48"`)
}

// A classParser parses the label and the name in the line with index i. several means that the
// label has other names too.
type classParser func(i int, line string) (label int, name string, several bool, err error)

// classFormat detects the format by the first line, and returns how many lines precede the first
// class. The parser is nil for names alone.
func classFormat(first string) (parse classParser, skip int) {
	if first == "index,codepoint,char" {
		return classMapLine, 1
	}
	if _, _, _, err := mappingLine(0, first); !errors.Is(err, errNoMapping) {
		return mappingLine, 0
	}
	return nil, 0
}

func plainLine(i int, line string) (label int, name string, several bool, err error) {
	return i, line, false, nil
}

// besideName matches a line with a number before or after a name.
var besideName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+)[ \t,;:=.)]+\S|\S[ \t]*[\t,;:=][ \t]*([0-9]+)$`)
})

// numbered reports whether there are at least two lines, and they are numbered from 0 or 1.
func numbered(lines []string) bool {
	first := -1
	for i, line := range lines {
		m := besideName().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return false
		}
		n, err := strconv.Atoi(m[1] + m[2])
		if i == 0 {
			first = n
		}
		if err != nil || n != first+i || first > 1 {
			return false
		}
	}
	return len(lines) > 1
}

var errNoMapping = errors.New("expected two or three numbers (label, code points), as on line 1")

// mappingLine parses a line of EMNIST's mapping files: label, code point, and perhaps a second
// code point, in decimal.
func mappingLine(_ int, line string) (label int, name string, several bool, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 || len(fields) > 3 {
		return 0, "", false, errNoMapping
	}
	for _, f := range fields {
		if _, err := strconv.ParseUint(f, 10, 31); err != nil {
			return 0, "", false, errNoMapping
		}
	}
	label, _ = strconv.Atoi(fields[0])
	codepoint, _ := strconv.Atoi(fields[1])
	if !utf8.ValidRune(rune(codepoint)) {
		return 0, "", false, fmt.Errorf("%d is not a Unicode code point", codepoint)
	}
	return label, string(rune(codepoint)), len(fields) == 3, nil
}

// classMapLine parses a line of KMNIST's class map, such as "0,U+304A,お".
func classMapLine(_ int, line string) (label int, name string, several bool, err error) {
	fields := strings.Split(line, ",")
	if len(fields) != 3 {
		return 0, "", false, fmt.Errorf("found %s, expected 3", display.Count(len(fields), "field"))
	}
	n, err := strconv.ParseUint(fields[0], 10, 31)
	if err != nil {
		return 0, "", false, fmt.Errorf("found the index %q, expected a number", fields[0])
	}
	if fields[2] == "" {
		return 0, "", false, errors.New("found no character")
	}
	return int(n), fields[2], false, nil
}

// A classList has the class names read so far.
type classList struct {
	parse        classParser
	names        []string
	lines        map[string]int // line index of each name
	alternatives bool           // some label had several names
}

func (c *classList) add(i int, line string) error {
	if !utf8.ValidString(line) {
		return errors.New("not valid UTF-8")
	}
	label, name, several, err := c.parse(i, line)
	if err != nil {
		return err
	}
	if label >= maxClasses {
		return fmt.Errorf("found label %d, expected at most %d", label, maxClasses-1)
	}
	if j := strings.IndexFunc(name, unicode.IsControl); j >= 0 {
		return fmt.Errorf("control character %U in the name", []rune(name[j:])[0])
	}
	if name != "" {
		if first, ok := c.lines[name]; ok {
			return fmt.Errorf("the name %q is already on line %d, expected another name for each label", name, first+1)
		}
		c.lines[name] = i
	}
	for len(c.names) <= label {
		c.names = append(c.names, "")
	}
	if c.names[label] != "" {
		return fmt.Errorf("label %d occurs twice", label)
	}
	c.names[label] = name
	c.alternatives = c.alternatives || several
	return nil
}
