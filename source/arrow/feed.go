package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Magic numbers: at both ends of a file; of Feather's first version, which is another format.
const (
	magic        = "ARROW1"
	magicFeather = "FEA1"
)

// continuation stands before each message, and before a length of 0 at the end of a stream. Before Arrow 0.15 it was left out.
const continuation = 0xffffffff

// maxMessage is the most bytes of a message's metadata. That of 4,096 columns has less than 1 MiB.
const maxMessage = 64 << 20

// Numbers of the union MessageHeader in Message.fbs.
const (
	headerSchema          = 1
	headerDictionaryBatch = 2
	headerRecordBatch     = 3
)

// A feed finds the record batches of one file or stream, in order.
type feed struct {
	path   string
	schema *fileSchema
	codecs *codecs
	rows   int64 // −1: unknown
	next   int64 // row of the file

	// Of a plain file: where its record batches are.
	file   source.File
	blocks []place // and those of dictionaries, in their order

	dictionaries map[int64]*dictionary // the current ones, by their numbers
	held         int64                 // bytes of them

	size int64

	// Of a stream: what comes next.
	r      io.Reader
	offset int64
	body   int64 // bytes of the last message's body that were not read yet
	isFile bool  // there is a footer behind the stream
	noEnd  bool  // the input ended without an end mark
	end    bool
}

// A place is where a message is in a file.
type place struct {
	offset   int64
	metadata int // bytes, with what stands before it
	body     int64
	rows     int64

	dictionary bool // it is no record batch
}

// A message is the metadata of one.
type message struct {
	kind byte
	data flatTable
	body int64 // bytes
}

// parseMessage reads a Message of Message.fbs, which stands at offset.
func parseMessage(metadata []byte, offset int64) (message, error) {
	const (
		fieldKind   = 1
		fieldHeader = 2
		fieldBody   = 3
	)
	t := (&flatBuffer{bytes: metadata}).root()
	m := message{kind: t.byte(fieldKind), body: t.long(fieldBody)}
	var ok bool
	m.data, ok = t.table(fieldHeader)
	if t.bad || !ok || m.body < 0 {
		return m, damaged(offset, "found no message of an Arrow stream, expected one")
	}
	return m, nil
}

// openFeed reads the schema of f, a plain file of size bytes, and where its record batches are.
func openFeed(f source.File, path string, size int64, c *codecs) (*feed, error) {
	d := &feed{path: path, file: f, size: size, codecs: c, rows: unknown, dictionaries: map[int64]*dictionary{}}
	var prefix [len(magic)]byte
	if n, err := f.ReadAt(prefix[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if err := recognise(prefix[:n]); err != nil {
		return nil, err
	}
	if string(prefix[:]) == magic {
		return d, d.readFooter()
	}
	return d, d.scan()
}

// recognise refuses what no Arrow file or stream begins with.
func recognise(prefix []byte) error {
	refuse := func(advice, message string, values ...any) error {
		return unsupported("", advice, message, values...).At(0)
	}
	switch {
	case len(prefix) == 0:
		return truncated(0, "the input is empty, expected an Arrow file or stream")
	case len(prefix) >= len(magicFeather) && string(prefix[:len(magicFeather)]) == magicFeather:
		return refuse("write it with pyarrow.feather.write_feather(…, version=2)", "found a Feather file of version 1, expected version 2, which is Arrow")
	case len(prefix) < len(magic):
		return truncated(int64(len(prefix)), "the input has %d bytes, expected an Arrow file or stream", len(prefix))
	case string(prefix) == magic:
		return nil
	}
	length := binary.LittleEndian.Uint32(prefix)
	if length != continuation && (length == 0 || length > 1<<20) { // the length of the schema, before Arrow 0.15
		if message, advice := idx.WebPage(prefix, "an Arrow file or stream"); message != "" {
			return refuse(advice, "%s", message)
		}
		return refuse("give the file the extension of its format", "found % x, expected an Arrow file (ARROW1) or stream (ff ff ff ff)", prefix[:4])
	}
	return nil
}

// messageAt reads the metadata of the message at p from the file. If p does not know its length, it stands before it. At the end mark, or at the end of the file,
// the metadata is nil.
func (d *feed) messageAt(p *place) ([]byte, error) {
	var prefix [8]byte
	n, err := d.file.ReadAt(prefix[:min(8, max(0, d.size-p.offset))], p.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	length, start, err := messageLength(prefix[:n], p.offset)
	if err != nil || length == 0 {
		p.metadata = start
		return nil, err
	}
	if left := d.size - p.offset - int64(start); int64(length) > left {
		return nil, truncated(d.size, "the file ends inside of a message at byte %d: found %d bytes, expected %d", p.offset, left, length)
	}
	if p.metadata != 0 && p.metadata < start+length {
		return nil, damaged(p.offset, "the message has %d bytes, expected the %d of the footer", start+length, p.metadata)
	}
	p.metadata = start + length
	metadata := make([]byte, length) // is in the file
	_, err = d.file.ReadAt(metadata, p.offset+int64(start))
	return metadata, err
}

// messageLength is the length of the message that follows prefix, which is of up to 8 bytes, and where it starts; 0 at the end of the stream.
func messageLength(prefix []byte, offset int64) (length, start int, err error) {
	if len(prefix) == 0 {
		return 0, 0, nil
	}
	if len(prefix) < 4 {
		return 0, 0, truncated(offset+int64(len(prefix)), "the input ends inside of a message")
	}
	n, start := binary.LittleEndian.Uint32(prefix), 4
	if n == continuation {
		if len(prefix) < 8 {
			return 0, 0, truncated(offset+int64(len(prefix)), "the input ends inside of a message")
		}
		n, start = binary.LittleEndian.Uint32(prefix[4:]), 8
	}
	if n > maxMessage {
		return 0, 0, damaged(offset, "a message claims %d bytes of metadata, expected at most %d", n, maxMessage)
	}
	return int(n), start, nil
}

// batchAt reads the metadata of the record batch at p.
func (d *feed) batchAt(p *place) (*batch, error) {
	m, err := d.expect(p, headerRecordBatch, "a record batch")
	if err != nil {
		return nil, err
	}
	b, err := parseBatch(m.data, p.offset, m.body)
	if err != nil {
		return nil, err
	}
	b.path, b.codecs, b.at, b.start, b.dictionaries = d.path, d.codecs, d.file, p.offset+int64(p.metadata), d.dictionaries
	return b, nil
}

// expect reads the metadata of the message at p, of a kind that messages call what.
func (d *feed) expect(p *place, kind byte, what string) (message, error) {
	metadata, err := d.messageAt(p)
	if err != nil {
		return message{}, err
	}
	if metadata == nil {
		return message{}, damaged(p.offset, "found the end of the stream, expected %s", what)
	}
	m, err := parseMessage(metadata, p.offset)
	if err != nil {
		return message{}, err
	}
	if m.kind != kind {
		return message{}, damaged(p.offset, "found a message of kind %d, expected %s", m.kind, what)
	}
	if left := d.size - p.offset - int64(p.metadata); left < m.body {
		return message{}, truncated(d.size, "the file ends inside of %s at byte %d: found %d bytes, expected %d", what, p.offset, left, m.body)
	}
	return m, nil
}

// scan goes through a stream in a plain file from message to message.
func (d *feed) scan() error {
	d.rows = 0
	p := place{}
	for {
		metadata, err := d.messageAt(&p)
		if err != nil {
			return err
		}
		if metadata == nil {
			if d.schema == nil {
				return damaged(p.offset, "the stream has no schema")
			}
			d.noEnd = p.metadata == 0
			if rest := d.size - p.offset - int64(p.metadata); rest > 0 {
				return damaged(p.offset+int64(p.metadata), "found %d bytes after the end of the stream, expected none", rest)
			}
			return nil
		}
		m, err := parseMessage(metadata, p.offset)
		if err != nil {
			return err
		}
		body := p.offset + int64(p.metadata)
		if m.body > d.size-body {
			return truncated(d.size, "the file ends inside of a message at byte %d: found %d bytes, expected %d", p.offset, d.size-body, m.body)
		}
		if err := d.take(m, p); err != nil {
			return err
		}
		p = place{offset: body + m.body}
	}
}

// take notes what the message m at p of a plain file is.
func (d *feed) take(m message, p place) (err error) {
	switch {
	case d.schema == nil && m.kind == headerSchema:
		d.schema, err = parseSchema(m.data, p.offset)
	case d.schema != nil && m.kind == headerRecordBatch:
		b, err := parseBatch(m.data, p.offset, m.body)
		if err != nil {
			return err
		}
		p.body = m.body
		if err := d.count(&p, b.rows); err != nil {
			return err
		}
		d.blocks = append(d.blocks, p)
	case d.schema != nil && m.kind == headerDictionaryBatch:
		d.addDictionary(p)
	default:
		return damaged(p.offset, "found a message of kind %d, expected %s", m.kind, d.expected())
	}
	return err
}

func (d *feed) expected() string {
	if d.schema == nil {
		return fmt.Sprintf("a schema (%d)", headerSchema)
	}
	return fmt.Sprintf("a dictionary (%d) or a record batch (%d)", headerDictionaryBatch, headerRecordBatch)
}
