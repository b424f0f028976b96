package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Magic numbers: magic is at both ends of an Arrow file, magicFeather is that of version 1 of
// Feather, which is another format.
const (
	magic        = "ARROW1"
	magicFeather = "FEA1"
)

// continuation precedes every message, and the end mark, a length of 0, since Arrow 0.15.
const continuation = 0xffffffff

// Limits of an input. The metadata of 4,096 columns has less than 1 MiB. No real file has maxRows
// rows; beyond that, products of row counts could overflow.
const (
	maxMessage = 64 << 20 // bytes of metadata
	maxRows    = 1 << 48
)

// unknown is a number of rows, a length or an offset that is not known.
const unknown = -1

// Numbers of the union MessageHeader in Message.fbs.
const (
	headerEnd             = 0 // no message: the end of the stream
	headerSchema          = 1
	headerDictionaryBatch = 2
	headerRecordBatch     = 3
)

// A message is an encapsulated message: a prefix, metadata, and a body.
type message struct {
	kind   byte
	header flatTable // the schema, dictionary or record batch
	offset int64
	size   int64 // bytes of the prefix and the metadata
	body   int64 // bytes
}

// String returns the kind of the message with an article: "a schema".
func (m message) String() string {
	names := [...]string{"the end of the stream", "a schema", "a dictionary", "a record batch"}
	if int(m.kind) < len(names) {
		return names[m.kind]
	}
	return fmt.Sprintf("a message of kind %d", m.kind)
}

// readMessage reads a message at offset of the input, without its body. ok is false if the input
// ends at offset.
func readMessage(r io.Reader, offset int64) (m message, ok bool) {
	m.offset = offset
	length := uint32(continuation)
	for m.size == 0 || m.size == 4 && length == continuation {
		prefix, err := readBytes(r, nil, 4)
		if m.size == 0 && len(prefix) == 0 && err == io.ErrUnexpectedEOF {
			return m, false
		}
		m.check(err)
		length = binary.LittleEndian.Uint32(prefix)
		m.size += 4
	}
	if length == 0 {
		return m, true
	}
	demand(length <= maxMessage, offset, "", "found a message with %d bytes of metadata, expected at most %d", length, maxMessage)
	metadata, err := readBytes(r, nil, int(length))
	m.check(err)
	m.size += int64(length)
	defer refuseOutside(offset)
	const fieldKind, fieldHeader, fieldBody = 1, 2, 3
	t := flatRoot(metadata)
	m.kind, m.body = t.byte(fieldKind), t.long(fieldBody)
	m.header, ok = t.table(fieldHeader)
	demand(ok && m.body >= 0 && m.kind != headerEnd, offset, "", "found no message of an Arrow stream, expected one")
	return m, true
}

// check panics with err, an error from reading m, unless it is nil.
func (m message) check(err error) {
	if err == io.ErrUnexpectedEOF {
		err = truncated(m.offset, "the input ends within the message that begins here")
	}
	check(err)
}

// block is the maximum number of bytes allocated before input arrives to fill them.
const block = 4 << 20

// readBytes reads n bytes from r, into buf if its capacity is large enough. Memory grows with the
// bytes that arrive rather than with n. The error is io.ErrUnexpectedEOF if fewer arrive.
func readBytes(r io.Reader, buf []byte, n int) ([]byte, error) {
	b := bytes.NewBuffer(buf[:0])
	b.Grow(min(n, block) + bytes.MinRead)
	_, err := io.CopyN(b, r, int64(n))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// A stream reads messages one after another. As an io.Reader, it reads the body of the last one.
type stream struct {
	r         io.Reader
	offset    int64 // of the input
	body      int64 // bytes of the last message's body that were not read yet
	footer    bool  // the stream is within a file, and the footer of the file follows it
	ended     bool
	noEndMark bool // the input ended without an end mark
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.offset += int64(n)
	s.body -= int64(n)
	return n, err
}

// next skips the rest of the last message's body, and returns the next message. ok is false at the
// end of the stream, after which nothing else may come.
func (s *stream) next() (m message, ok bool) {
	if s.ended {
		return m, false
	}
	s.skipBody()
	m, ok = readMessage(s, s.offset)
	if s.body = m.body; ok && m.kind != headerEnd {
		return m, true
	}
	s.ended, s.noEndMark = true, !ok
	switch {
	case ok:
		s.checkTail()
	case s.footer:
		panic(truncated(s.offset, "the file ends without its footer"))
	}
	return m, false
}

// checkTail reads the rest of the input: nothing, or the footer and the magic number.
func (s *stream) checkTail() {
	start, tail := s.offset, []byte{}
	for buf := make([]byte, 4096); ; {
		n, err := s.Read(buf)
		if n > 0 && !s.footer {
			panic(damaged(start, "found extra data after the end of the stream"))
		}
		tail = append(tail, buf[:n]...)
		tail = slices.Clone(tail[max(0, len(tail)-len(magic)):])
		if err == io.EOF {
			break
		}
		check(err)
	}
	if s.footer && string(tail) != magic {
		panic(truncated(s.offset, "found % x at the end, expected ARROW1, which ends a file", tail))
	}
}

// skipBody skips the rest of the last message's body, without reading it from a regular file.
func (s *stream) skipBody() {
	f, regular := s.r.(*io.SectionReader)
	if n := s.body; regular {
		n = min(n, f.Size()-s.offset)
		_, err := f.Seek(n, io.SeekCurrent)
		check(err)
		s.offset += n
		s.body -= n
	} else if _, err := io.CopyN(io.Discard, s, n); err != io.EOF {
		check(err)
	}
	if s.body > 0 {
		panic(truncated(s.offset, "the input ends %d bytes before the end of a message", s.body))
	}
}

// A place is the position and the size of a message in a file, as the footer of the file lists it.
type place struct {
	kind     byte
	offset   int64
	metadata int64 // bytes, including the prefix
	body     int64 // bytes
}

// A feed finds the record batches of a file or stream, in their order.
type feed struct {
	schema *fileSchema
	codecs *codecs
	rows   int64 // of a regular file, or unknown

	file   source.File // nil if it is no regular file
	size   int64       // bytes of file
	places []place     // of a file with a footer: the dictionaries and record batches that follow
	stream *stream     // of an input without a footer, or of a pipe

	dictionaries map[int64]*dictionary // the current ones, by their ids
	held         int64                 // bytes of memory that they take
}

// newFeed returns the feed of r. If file is not nil, r is that regular file, which has size bytes.
func newFeed(r io.Reader, file source.File, size int64) *feed {
	d := &feed{codecs: newCodecs(), rows: unknown, file: file, size: size, dictionaries: map[int64]*dictionary{}}
	s := &stream{r: r}
	prefix, err := readBytes(s, nil, len(magic))
	if err != io.ErrUnexpectedEOF {
		check(err)
	}
	switch checkPrefix(prefix); {
	case string(prefix) == magic && file != nil:
		d.readFooter()
	case string(prefix) == magic:
		s.footer, s.body = true, 8-int64(len(magic)) // the magic number is padded with zeros to 8 bytes
		d.readSchema(s)
	case file != nil:
		d.readSchema(&stream{r: io.NewSectionReader(file, 0, size)})
	default:
		d.readSchema(&stream{r: io.MultiReader(bytes.NewReader(prefix), r)})
	}
	return d
}

// openFeed returns the feed of a regular file of size bytes, whose rows it counts first.
func openFeed(file source.File, size int64) *feed {
	d := newFeed(io.NewSectionReader(file, 0, size), file, size)
	counted := *d
	if s := d.stream; s != nil {
		streamCopy, sectionCopy := *s, *s.r.(*io.SectionReader)
		streamCopy.r, counted.stream = &sectionCopy, &streamCopy
	}
	d.rows = 0
	for m, ok := counted.nextMessage(); ok; m, ok = counted.nextMessage() {
		if m.kind == headerRecordBatch {
			rows := counted.parseBatch(m.header, m).rows
			demand(rows <= maxRows-d.rows, m.offset, "", "found more than %d rows", int64(maxRows))
			d.rows += rows
		}
	}
	return d
}

// readSchema reads the schema that s begins with.
func (d *feed) readSchema(s *stream) {
	d.stream = s
	err := caught(func() {
		m, ok := s.next()
		demand(ok && m.kind == headerSchema, m.offset, "", "found %s, expected a schema", m)
		d.schema = parseSchema(m.header, m.offset)
	})
	if s.footer && errors.Is(err, fault.Malformed) {
		err = unsupported("", "give the file itself rather than a pipe; polars writes such files with write_ipc, and streams with write_ipc_stream",
			"the file does not begin with a stream, and its footer cannot be reached in a pipe").At(8)
	}
	check(err)
}

// checkPrefix refuses an input that does not begin like an Arrow file or stream.
func checkPrefix(prefix []byte) {
	switch {
	case len(prefix) == 0:
		panic(truncated(0, "the input is empty, expected an Arrow file or stream"))
	case bytes.HasPrefix(prefix, []byte(magicFeather)):
		panic(unsupported("", "write it with pyarrow.feather.write_feather(…, version=2)", "found a Feather file of version 1, expected version 2, which is Arrow").At(0))
	case len(prefix) < len(magic):
		panic(truncated(int64(len(prefix)), "the input has %s, expected an Arrow file or stream", display.Count(len(prefix), "byte")))
	}
	length := binary.LittleEndian.Uint32(prefix)
	if string(prefix) == magic || length == continuation || length > 0 && length <= 1<<20 { // a length of the schema, as before Arrow 0.15
		return
	}
	message, hint := idx.WebPage(prefix, "an Arrow file or stream")
	if message == "" {
		message, hint = fmt.Sprintf("found % x, expected an Arrow file (ARROW1) or stream (ff ff ff ff)", prefix[:4]), "give the file the extension of its format"
	}
	panic(unsupported("", hint, "%s", message).At(0))
}

// readFooter reads the footer of a file, whose length and the magic number are the last 10 bytes.
func (d *feed) readFooter() {
	const tail, fieldSchema, fieldDictionaries, fieldRecordBatches = 4 + len(magic), 1, 2, 3
	var end [tail]byte
	if d.size < int64(8+tail) {
		panic(truncated(d.size, "the file has %d bytes, expected at least %d", d.size, 8+tail))
	}
	_, err := d.file.ReadAt(end[:], d.size-int64(tail))
	check(err)
	if string(end[4:]) != magic {
		panic(truncated(d.size, "found % x at the end, expected ARROW1, which ends a file", end[4:]))
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	start := d.size - int64(tail) - length
	demand(length <= maxMessage && start >= 8, d.size-int64(tail), "", "found a footer of %d bytes in a file of %d", length, d.size)
	footer := make([]byte, length) // the file has that many bytes
	_, err = d.file.ReadAt(footer, start)
	check(err)
	defer refuseOutside(start)
	t := flatRoot(footer)
	schema, ok := t.table(fieldSchema)
	demand(ok, start, "", "the footer has no schema")
	d.schema = parseSchema(schema, start)
	if len(d.schema.dictionaries) > 0 {
		d.addPlaces(t, fieldDictionaries, headerDictionaryBatch, start)
	}
	d.addPlaces(t, fieldRecordBatches, headerRecordBatch, start)
}

// addPlaces adds the messages of a kind that a field of the footer, which is at start, lists.
func (d *feed) addPlaces(t flatTable, field int, kind byte, start int64) {
	const blockSize = 24 // struct Block {offset: long; metaDataLength: int; bodyLength: long}
	pos, n := t.vector(field, blockSize)
	left := start // bytes: the messages do not overlap
	for i := range n {
		at := pos + flatbuffers.UOffsetT(i*blockSize)
		p := place{kind: kind, offset: t.GetInt64(at), metadata: int64(t.GetInt32(at + 8)), body: t.GetInt64(at + 16)}
		demand(p.offset >= 8 && p.metadata > 8 && p.body >= 0 && p.offset <= start && p.metadata <= start-p.offset && p.body <= start-p.offset-p.metadata,
			start, "", "the footer lists %s at byte %[4]d with %[2]d bytes of metadata and %[3]d of body, expected all of it before the footer", message{kind: kind}, p.metadata, p.body, p.offset)
		left -= p.metadata + p.body
		demand(left >= 0, start, "", "the messages listed in the footer have more bytes together than the %d before the footer", start)
		d.places = append(d.places, p)
	}
}

// next reads the dictionaries before the next record batch, and returns that batch without reading
// its body. It returns nil at the end.
func (d *feed) next() *batch {
	for {
		m, ok := d.nextMessage()
		switch {
		case !ok:
			return nil
		case m.kind == headerRecordBatch:
			return d.parseBatch(m.header, m)
		}
		d.readDictionary(m)
	}
}

// nextMessage returns the next dictionary or record batch. ok is false at the end.
func (d *feed) nextMessage() (m message, ok bool) {
	if d.stream != nil {
		m, ok = d.stream.next()
		if ok && m.kind != headerRecordBatch && m.kind != headerDictionaryBatch {
			panic(damaged(m.offset, "found %s, expected a dictionary or a record batch", m))
		}
		return m, ok
	}
	if len(d.places) == 0 {
		return m, false
	}
	p := d.places[0]
	d.places = d.places[1:]
	m, ok = readMessage(io.NewSectionReader(d.file, p.offset, d.size-p.offset), p.offset)
	switch left := d.size - p.offset - m.size; {
	case !ok || m.kind != p.kind:
		panic(damaged(p.offset, "found %s, expected %s", m, message{kind: p.kind}))
	case p.metadata < m.size:
		panic(damaged(p.offset, "the message has %d bytes, expected the %d in the footer", m.size, p.metadata))
	case left < m.body:
		panic(truncated(d.size, "the file ends within the body of the message at byte %d: found %d bytes, expected %d", p.offset, left, m.body))
	case p.kind == headerRecordBatch && m.body != p.body:
		panic(damaged(p.offset, "the record batch has a body of %d bytes, expected the %d in the footer", m.body, p.body))
	}
	return m, true
}
