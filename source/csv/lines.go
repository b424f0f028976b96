package csv

import (
	"bytes"
	"errors"
	"io"
)

// errLong is what next returns for a line beyond its limit.
var errLong = errors.New("the line is too long")

// sampleSize is how much text is looked at before the types are decided.
const sampleSize = 1 << 20

// Lines reads text line by line. A line feed in quotes does not end a line.
type lines struct {
	r       io.Reader
	buf     []byte
	at, end int   // what of buf is still to be read
	keep    int   // bytes before at that must stay, as they may be read again
	err     error // that r ended with, io.EOF included
}

// firstBuffer is what a small file needs. It grows to a sample, and with the longest line.
const firstBuffer = 16 << 10

func newLines(r io.Reader) *lines { return &lines{r: r, buf: make([]byte, firstBuffer)} }

// fill reads more behind what there is, at least a byte or the error. It makes room first, if there is none.
func (l *lines) fill() {
	if from := l.at - l.keep; from > 0 && l.end == len(l.buf) {
		l.end = copy(l.buf, l.buf[from:l.end])
		l.at = l.keep
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// sample is the text to come, without reading over it: about a megabyte. whole tells that it is all there is.
func (l *lines) sample() (text []byte, whole bool) {
	for l.err == nil && l.end-l.at < sampleSize {
		l.fill()
	}
	return l.buf[l.at:l.end], l.err == io.EOF
}

// next returns the next line, with what ends it, valid until the next call; io.EOF behind the last one, errLong if it has more than limit bytes.
func (l *lines) next(limit int) ([]byte, error) {
	seen, quoted := 0, false
	for {
		n, q := lineEnd(l.buf[l.at+seen:l.end], quoted)
		if n > 0 {
			seen += n
		} else {
			seen, quoted = l.end-l.at, q
		}
		if seen > limit {
			return nil, errLong
		}
		if n == 0 && l.err == nil {
			l.fill()
			continue
		}
		if n == 0 && (l.err != io.EOF || seen == 0) {
			return nil, l.err
		}
		line := l.buf[l.at : l.at+seen]
		l.at += seen
		return line, nil
	}
}

// eachLine calls f with each line of text that is whole, without its end, but for empty ones, and
// returns their number. The last is whole without an end if the text is all there is.
func eachLine(text []byte, whole bool, f func(row int, line []byte)) (rows int) {
	for len(text) > 0 {
		n, _ := lineEnd(text, false)
		if n == 0 {
			if !whole {
				break
			}
			n = len(text)
		}
		line := trimEnd(text[:n])
		text = text[n:]
		if len(line) == 0 {
			continue
		}
		f(rows, line)
		rows++
	}
	return rows
}

// lineEnd is the length of the first line of text, with its line feed; 0 if it does not end there, and then whether quotes are open at the end. They
// are open at the start if quoted is true.
func lineEnd(text []byte, quoted bool) (int, bool) {
	for from := 0; ; {
		n := bytes.IndexByte(text[from:], '\n')
		part := text[from:]
		if n >= 0 {
			part = part[:n]
		}
		if quoted || bytes.IndexByte(part, '"') >= 0 {
			quoted = quoted != (bytes.Count(part, []byte{'"'})%2 == 1)
		}
		if n < 0 {
			return 0, quoted
		}
		from += n + 1
		if !quoted {
			return from, false
		}
	}
}

// trimEnd is line without the line feed, and the carriage return before that.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}
