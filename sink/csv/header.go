package csv

import "bytes"

// headerPiece is about the most bytes of the header that are held at a time. Huge records have headers of many megabytes.
const headerPiece = 64 << 10

// writeHeader writes the header line, a piece at a time.
func (l *layout) writeHeader(name elementName, write func([]byte) error) error {
	tensors := 0
	for _, f := range l.fields {
		if !f.column.Scalar() {
			tensors++
		}
	}
	line, scratch := make([]byte, 0, headerPiece), []byte(nil)
	for _, f := range l.fields {
		for i := range f.elements {
			scratch = append(scratch[:0], f.column.Name...)
			if !f.column.Scalar() {
				scratch = name(scratch[:0], f.column, i, tensors == 1)
			}
			line = append(l.appendQuoted(line, scratch), l.comma)
			if len(line) < headerPiece {
				continue
			}
			// The last byte stays: it becomes the end of the line if this was the last name.
			if err := write(line[:len(line)-1]); err != nil {
				return err
			}
			line = append(line[:0], l.comma)
		}
	}
	line[len(line)-1] = '\n'
	return write(line)
}

// appendQuoted appends name, quoted if RFC 4180, section 2, demands it, or if a reader would take it for nothing or trim it.
func (l *layout) appendQuoted(dst, name []byte) []byte {
	special := func(r rune) bool { return r == '"' || r == '\r' || r == '\n' || r == rune(l.comma) }
	if len(name) > 0 && name[0] != ' ' && !bytes.ContainsFunc(name, special) {
		return append(dst, name...)
	}
	dst = append(dst, '"')
	for _, b := range name {
		if b == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, b)
	}
	return append(dst, '"')
}
