package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/idxport/idxport/fault"
)

// newStream reads the schema from r: a stream, or a file as a stream, whose footer is passed over.
func newStream(r io.Reader, path string, c *codecs) (*feed, error) {
	d := &feed{path: path, r: r, codecs: c, rows: unknown, dictionaries: map[int64]*dictionary{}}
	var prefix [8]byte
	n, err := io.ReadFull(r, prefix[:len(magic)])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err := recognise(prefix[:n]); err != nil {
		return nil, err
	}
	if d.isFile = string(prefix[:len(magic)]) == magic; !d.isFile {
		d.r = io.MultiReader(readerOf(prefix[:n]), r)
	} else if err := d.read(prefix[:8-len(magic)]); err != nil { // zeros up to a multiple of 8
		return nil, err
	} else {
		d.offset = 8
	}
	m, err := d.nextMessage()
	if err == io.EOF {
		return nil, damaged(d.offset, "the stream has no schema")
	}
	if d.isFile && (errors.Is(err, fault.Malformed) || err == nil && m.kind != headerSchema) {
		return nil, unsupported("", "give the file itself rather than a pipe; polars writes such files with write_ipc, and streams with write_ipc_stream",
			"the file does not begin with a stream, expected one as there is no way to go to its footer").At(8)
	}
	if err != nil {
		return nil, err
	}
	if m.kind != headerSchema {
		return nil, damaged(0, "found a message of kind %d, expected %s", m.kind, d.expected())
	}
	d.schema, err = parseSchema(m.data, 0)
	return d, err
}

// readerOf reads p, which is kept.
func readerOf(p []byte) io.Reader { return &rest{append([]byte(nil), p...)} }

type rest struct{ bytes []byte }

func (r *rest) Read(p []byte) (int, error) {
	n := copy(p, r.bytes)
	if r.bytes = r.bytes[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// read fills p.
func (d *feed) read(p []byte) error {
	n, err := io.ReadFull(d.r, p)
	d.offset += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return truncated(d.offset, "the input ends inside of a message")
	}
	return err
}

// nextMessage passes over what is left of the last message's body, and reads the metadata of the next. io.EOF is the end of the stream, checked.
func (d *feed) nextMessage() (message, error) {
	if d.end {
		return message{}, io.EOF
	}
	if err := d.pass(); err != nil {
		return message{}, err
	}
	start := d.offset
	var prefix [8]byte
	n, err := io.ReadFull(d.r, prefix[:4])
	if err == io.EOF {
		if d.isFile {
			return message{}, truncated(d.offset, "the file ends without its footer")
		}
		d.end, d.noEnd = true, true
		return message{}, io.EOF
	}
	if d.offset += int64(n); err == io.ErrUnexpectedEOF {
		return message{}, truncated(d.offset, "the input ends inside of a message")
	} else if err != nil {
		return message{}, err
	}
	known := prefix[:4]
	if binary.LittleEndian.Uint32(known) == continuation {
		known = prefix[:]
		if err := d.read(known[4:]); err != nil {
			return message{}, err
		}
	}
	if n, _, err = messageLength(known, start); err != nil {
		return message{}, err
	}
	if n == 0 {
		d.end = true
		if err := d.finish(); err != nil {
			return message{}, err
		}
		return message{}, io.EOF
	}
	metadata, err := readBytes(d.r, nil, n)
	d.offset += int64(len(metadata))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return message{}, truncated(d.offset, "the input ends inside of a message at byte %d", start)
	} else if err != nil {
		return message{}, err
	}
	m, err := parseMessage(metadata, start)
	d.body = m.body
	return m, err
}

// pass skips the bytes of a body that nobody wanted.
func (d *feed) pass() error {
	n, err := io.CopyN(io.Discard, d.r, d.body)
	d.offset += n
	if d.body -= n; err == io.EOF {
		return truncated(d.offset, "the input ends inside of the body of a message, %d bytes before its end", d.body)
	}
	return err
}

// finish demands the end of a stream, or the magic number behind the footer of a file.
func (d *feed) finish() error {
	var last [len(magic)]byte // the last bytes that were read
	buf := make([]byte, 4096)
	total := int64(0)
	for {
		n, err := d.r.Read(buf)
		total += int64(n)
		if n >= len(last) {
			copy(last[:], buf[n-len(last):n])
		} else {
			copy(last[:], last[n:])
			copy(last[len(last)-n:], buf[:n])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if total > 0 && !d.isFile {
			return damaged(d.offset, "found more data after the end of the stream, expected none")
		}
	}
	if total > 0 && !d.isFile {
		return damaged(d.offset, "found %d bytes after the end of the stream, expected none", total)
	}
	if d.isFile && string(last[:]) != magic {
		return truncated(d.offset+total, "found % x at the end, expected ARROW1, which ends a file", last)
	}
	return nil
}

// nextBatch is the next record batch, not yet loaded; io.EOF at the end.
func (d *feed) nextBatch() (*batch, error) {
	b, err := d.find()
	if err != nil {
		return nil, err
	}
	b.first = d.next
	if b.rows > maxRows-d.next {
		return nil, damaged(b.offset, "the input claims more than %d rows", int64(maxRows))
	}
	d.next += b.rows
	return b, nil
}

func (d *feed) find() (*batch, error) {
	for d.r == nil {
		if len(d.blocks) == 0 {
			return nil, io.EOF
		}
		p := d.blocks[0]
		d.blocks = d.blocks[1:]
		if p.dictionary {
			m, err := d.expect(&p, headerDictionaryBatch, "a dictionary")
			if err == nil {
				err = d.takeDictionary(m, p)
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		b, err := d.batchAt(&p)
		if err == nil && b.rows != p.rows {
			return nil, damaged(p.offset, "the record batch has %d rows now, and had %d: the file changed while it was read", b.rows, p.rows)
		}
		return b, err
	}
	for {
		m, err := d.nextMessage()
		if err != nil {
			return nil, err
		}
		start := d.offset
		switch m.kind {
		case headerDictionaryBatch:
			if err := d.takeDictionary(m, place{offset: start}); err != nil {
				return nil, err
			}
			continue
		case headerRecordBatch:
		default:
			return nil, damaged(start, "found a message of kind %d, expected %s", m.kind, d.expected())
		}
		b, err := parseBatch(m.data, start, m.body)
		if err != nil {
			return nil, err
		}
		b.path, b.codecs, b.start, b.dictionaries = d.path, d.codecs, start, d.dictionaries
		return b, nil
	}
}

// load brings b, the last batch that nextBatch has returned, into memory, into buf if that is large enough, unless its rows can be read where they are.
func (d *feed) load(b *batch, buf []byte) error {
	if b.body != nil || b.direct() {
		return nil
	}
	if err := b.load(d.r, buf); err != nil {
		return err
	}
	if d.r != nil {
		d.offset += b.size
		d.body = 0
	}
	return nil
}

// close gives back what the feed holds.
func (d *feed) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}

// note tells that the end mark is missing.
func (d *feed) note() string {
	if !d.noEnd {
		return ""
	}
	return fmt.Sprintf("%s: the stream ends without an end mark; if its writer was stopped, rows are missing", d.path)
}
