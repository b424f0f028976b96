package csv

import (
	"bytes"
	"strings"
)

// separators are those that are looked for, the first where they are equally frequent.
const separators = ",\t;|"

// findSeparator is the separator that line has most of, outside of quotes: a space if there is none of them, a comma if there is no space either.
func findSeparator(line []byte) byte {
	var counts [256]int
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(separators) {
		if counts[c] > counts[best] {
			best = c
		}
	}
	if counts[best] == 0 && counts[' '] > 0 && allNumbers(line, ' ') {
		return ' '
	}
	return best
}

// nextField cuts the first field off rest, whose fields each end with comma, the last one too. ok is false if there is none. The field is as
// it stands, with its quotes.
func nextField(rest []byte, comma byte) (field, behind []byte, ok bool) {
	n := bytes.IndexByte(rest, comma)
	if n < 0 {
		return nil, rest, false
	}
	if bytes.IndexByte(rest[:n], '"') < 0 {
		return rest[:n], rest[n+1:], true
	}
	quoted := false
	for i, c := range rest {
		if c == '"' {
			quoted = !quoted
		} else if c == comma && !quoted {
			return rest[:i], rest[i+1:], true
		}
	}
	return nil, rest, false
}

// content is what field says: without spaces around it, without quotes, and with doubled quotes as one.
func content(field []byte) []byte {
	field = bytes.TrimSpace(field)
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return field
	}
	field = field[1 : len(field)-1]
	if bytes.IndexByte(field, '"') >= 0 {
		return bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	return field
}

// isQuoted tells whether the quotes of field, if it has some, are as RFC 4180 has them: around it, and doubled inside. Others open and close quotes where
// the writer did not mean it, and rows are lost.
func isQuoted(field []byte) bool {
	if bytes.IndexByte(field, '"') < 0 {
		return true
	}
	field = bytes.TrimSpace(field)
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return false
	}
	inside := field[1 : len(field)-1]
	return 2*bytes.Count(inside, []byte(`""`)) == bytes.Count(inside, []byte{'"'})
}

// eachField calls f with the content of each field of line, which has no line end, until f returns false.
func eachField(line []byte, comma byte, f func(i int, text []byte) bool) {
	if bytes.IndexByte(line, '"') < 0 { // as it is: a header may have megabytes
		for i, more := 0, true; more; i++ {
			var field []byte
			if field, line, more = bytes.Cut(line, []byte{comma}); !f(i, content(field)) {
				return
			}
		}
		return
	}
	rest := append(bytes.Clone(line), comma)
	for i := 0; ; i++ {
		field, behind, ok := nextField(rest, comma)
		if !ok || !f(i, content(field)) {
			return
		}
		rest = behind
	}
}

// allNumbers tells whether every field of line is a number.
func allNumbers(line []byte, comma byte) bool {
	all := true
	eachField(line, comma, func(_ int, text []byte) bool {
		_, all = parseNumber(text)
		return all
	})
	return all
}

// isHeader tells whether line, the first, has names: there is one that is neither a number nor, beside numbers, says that a value is missing.
func isHeader(line []byte, comma byte) bool {
	names, missing, numbers := false, false, false
	eachField(line, comma, func(_ int, text []byte) bool {
		_, ok := parseNumber(text)
		switch {
		case ok:
			numbers = true
		case isMissing(text):
			missing = true
		default:
			names = len(text) > 0
		}
		return !names
	})
	return names || missing && !numbers
}

// isMissing tells whether text is what programs write in place of a number that they do not have.
func isMissing(text []byte) bool {
	switch strings.ToLower(string(text)) {
	case "na", "n/a", "#n/a", "null", "none", "?":
		return true
	}
	return false
}

// names are the contents of the fields of the header, behind what numpy.savetxt puts before it.
func names(line []byte, comma byte) []string {
	text := strings.TrimPrefix(string(line), "# ") // what the names are parts of
	if strings.IndexByte(text, '"') < 0 {
		list := strings.Split(text, string(rune(comma)))
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return list
	}
	var list []string
	eachField(line, comma, func(_ int, name []byte) bool {
		list = append(list, string(name))
		return true
	})
	return list
}

// countFields is the number of fields of line.
func countFields(line []byte, comma byte) int {
	n := 0
	eachField(line, comma, func(int, []byte) bool {
		n++
		return true
	})
	return n
}
