package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// Magic numbers: magic is at both ends of an Arrow file, magicFeather is that of version 1 of
// Feather, which is another format. continuation precedes every message, and the end mark, a length
// of 0, since Arrow 0.15.
const (
	magic        = "ARROW1"
	magicFeather = "FEA1"
	continuation = 0xffffffff
)

// Limits of a message, in bytes. The metadata of 4,096 columns has less than 1 MiB. Useful
// dictionaries, of numbers or class names, are far smaller than maxDictionaries. After
// decompression, a record batch may have minPlain bytes, or maxRatio for each byte of its body.
const (
	maxMetadata     = 64 << 20
	maxBody         = 1 << 30
	maxPiped        = 256 << 20 // body of a record batch in a pipe
	maxDictionaries = 16 << 20  // all of them together
	minPlain        = 64 << 20
	maxRatio        = 64
	block           = 4 << 20 // memory that is allocated before input arrives to fill it
)

const hintSmaller = "write it in smaller record batches"

// A message is the metadata of a message, and its body if it has been read.
type message struct {
	summary
	offset, size   int64 // size: bytes of the prefix and the metadata
	metadata, body []byte
}

// messages reads the messages of a file, in the order of its footer, or of a stream.
type messages struct {
	r      io.Reader   // at the next message, or at the body of the last one
	offset int64       // of r in the input
	file   source.File // nil if the input is a pipe
	end    int64       // of the messages in file
	rows   int64       // of file, or −1
	note   func(string)

	columns []direct // of the schema, if all are of this kind
	perRow  []int64

	footer bool // places lists the messages of file that follow
	places []place
	schema message   // which all record batches need
	known  []message // the current dictionaries; not changed once a record batch has them
	held   int       // bytes of these
	first  int64     // row of the next record batch
	noMark bool      // the input ends without an end mark
	ended  bool
}

// A batch is a record batch, which is decoded when it is needed.
type batch struct {
	first, rows int64
	record      func() (arrow.RecordBatch, error)
	window      int64 // rows that are read straight from the file at a time; 0: none are
	message     message
}

// open reads what is before the first record batch, and returns the schema.
func (m *messages) open() (*arrow.Schema, error) {
	m.rows = -1
	if m.file != nil {
		m.r = m.section(0)
	}
	prefix, err := readBytes(m.r, len(magic))
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	m.r = io.MultiReader(bytes.NewReader(prefix), m.r) // of a pipe
	switch m.footer = string(prefix) == magic; {
	case m.footer && m.file == nil:
		return nil, fault.New(fault.Unsupported,
			"found an Arrow file in a pipe, expected a stream: a file is read from its end").At(0).
			WithHint("give the path of the file")
	case m.footer:
		err = m.readFooter()
	default:
		if m.schema, err = m.nextMessage(); err == nil {
			err = m.skipBody(m.schema.summary.body)
		}
	}
	if err == nil && m.file != nil {
		err = m.count()
	}
	switch {
	case err == io.EOF || err == nil && m.schema.kind != kindSchema:
		return nil, damaged("found no schema at the beginning").At(m.schema.offset)
	case err != nil:
		return nil, err
	}
	r, err := ipc.NewReaderFromMessageReader(&replay{all: []message{m.schema}})
	if err != nil {
		return nil, damaged("the schema cannot be read: %v", err)
	}
	return r.Schema(), nil
}

// section returns a reader of the messages of a file from offset on.
func (m *messages) section(offset int64) io.Reader {
	return io.NewSectionReader(m.file, offset, m.end-offset)
}

// checkPrefix refuses an input that does not begin like an Arrow file or stream.
func checkPrefix(prefix []byte) error {
	switch {
	case len(prefix) == 0:
		return truncated(0, "the input is empty, expected an Arrow file or stream")
	case bytes.HasPrefix(prefix, []byte(magicFeather)):
		return fault.New(fault.Unsupported, "found a Feather file of version 1, expected version 2, which is Arrow").At(0).
			WithHint("write it with pyarrow.feather.write_feather(…, version=2)")
	case len(prefix) < len(magic):
		return truncated(int64(len(prefix)), "the input has %s, expected an Arrow file or stream",
			display.Count(len(prefix), "byte"))
	}
	length := binary.LittleEndian.Uint32(prefix)
	if string(prefix) == magic || length == continuation || length > 0 && length <= 1<<20 { // before Arrow 0.15
		return nil
	}
	message, hint := idx.WebPage(prefix, "an Arrow file or stream")
	if message == "" {
		message = fmt.Sprintf("found % x, expected an Arrow file (ARROW1) or stream (ff ff ff ff)", prefix[:4])
		hint = "give the file the extension of its format"
	}
	return fault.New(fault.Unsupported, "%s", message).At(0).WithHint("%s", hint)
}

// readFooter reads the footer of a file, whose length and the magic number are its last bytes.
func (m *messages) readFooter() error {
	const tail = int64(4 + len(magic))
	var end [tail]byte
	if m.end < 8+tail {
		return truncated(m.end, "the file has %d bytes, expected at least %d", m.end, 8+tail)
	}
	if err := m.readFile(end[:], m.end-tail); err != nil {
		return err
	}
	if string(end[4:]) != magic {
		return truncated(m.end, "found % x at the end, expected ARROW1, which ends a file", end[4:])
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	start := m.end - tail - length
	if length > maxMetadata || start < 8 {
		return damaged("found a footer of %d bytes in a file of %d", length, m.end).At(m.end - tail)
	}
	footer := make([]byte, length) // the file has that many bytes
	if err := m.readFile(footer, start); err != nil {
		return err
	}
	m.end = start
	var err error
	m.schema, m.places, err = readSchema(footer, start)
	return at(start, err)
}

// readFile fills p with the bytes of the file at offset.
func (m *messages) readFile(p []byte, offset int64) error {
	_, err := m.file.ReadAt(p, offset)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errShorter(offset)
	}
	return err
}

// errShorter returns the error for a file that ends at an offset where it did not end before.
func errShorter(offset int64) error {
	return truncated(offset, "the file became shorter while it was read")
}

// count counts the rows of a file.
func (m *messages) count() error {
	all := *m
	for all.rows = 0; ; {
		msg, err := all.nextMessage()
		if err == io.EOF {
			m.rows = all.rows
			return nil
		}
		if err == nil {
			err = all.skipBody(msg.summary.body)
		}
		if msg.kind == kindBatch {
			all.rows += msg.rows
		}
		if err == nil && all.rows > maxRows {
			err = damaged("found more than %d rows", int64(maxRows)).At(msg.offset)
		}
		if err != nil {
			return err
		}
	}
}

// readMessage reads the metadata of a message and checks it. It returns io.EOF at the end mark, and
// at the end of the input; only the end mark has a size.
func readMessage(r io.Reader, offset int64, views map[int64]int) (msg message, err error) {
	msg.offset = offset
	length := uint32(continuation)
	for err == nil && (msg.size == 0 || msg.size == 4 && length == continuation) {
		var prefix []byte
		if prefix, err = readBytes(r, 4); err == nil {
			length = binary.LittleEndian.Uint32(prefix)
			msg.size += 4
		} else if msg.size == 0 && len(prefix) == 0 && err == io.ErrUnexpectedEOF {
			return msg, io.EOF
		}
	}
	switch {
	case err == nil && length == 0:
		return msg, io.EOF
	case err == nil && length > maxMetadata:
		return msg, damaged("found a message with %d bytes of metadata, expected at most %d", length, maxMetadata).At(offset)
	case err == nil:
		msg.metadata, err = readBytes(r, int(length))
		msg.size += int64(length)
	}
	if err == io.ErrUnexpectedEOF {
		err = truncated(offset, "the input ends within the message that begins here")
	}
	if err == nil {
		msg.summary, err = summarize(msg.metadata, views)
		err = at(offset, err)
	}
	return msg, err
}

// readBytes reads n bytes. Memory grows with the bytes that arrive rather than with n, unless r is
// a part of a file that has as many. The error is io.ErrUnexpectedEOF if fewer arrive.
func readBytes(r io.Reader, n int) ([]byte, error) {
	size := min(n, block)
	if s, ok := r.(*io.SectionReader); ok && int64(n) <= s.Size() {
		size = n
	}
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := io.CopyN(b, r, int64(n))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// skipBody skips the n bytes of the body of the last message, without reading them from a file.
func (m *messages) skipBody(n int64) (err error) {
	skipped := min(n, m.end-m.offset)
	if m.file == nil {
		skipped, err = io.CopyN(io.Discard, m.r, n)
	}
	m.offset += skipped
	if err == io.EOF || err == nil && skipped < n {
		err = truncated(m.offset, "the input ends %d bytes before the end of a message", n-skipped)
	}
	return err
}

// next returns the next record batch, and keeps the dictionaries before it. If the batch has at
// most skip rows, it will not be decoded.
func (m *messages) next(skip int64) (*batch, error) {
	for {
		msg, err := m.nextMessage()
		if err == io.EOF {
			if m.noMark {
				m.note("the stream ends without an end mark; if its writer was stopped, rows are missing")
			}
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		if msg.kind == kindDictionary {
			if err := m.keep(msg); err != nil {
				return nil, err
			}
			continue
		}
		b := &batch{first: m.first, rows: msg.rows, window: m.window(&msg)}
		if m.first += msg.rows; m.first > maxRows {
			return nil, damaged("found more than %d rows", int64(maxRows)).At(msg.offset)
		}
		if msg.rows > skip && b.window == 0 {
			err = m.readBody(&msg)
		} else {
			err = m.skipBody(msg.summary.body)
		}
		b.message = msg
		all := append(append([]message{m.schema}, m.known...), msg)
		b.record = sync.OnceValues(func() (arrow.RecordBatch, error) { return decode(all) })
		return b, err
	}
}

// nextMessage returns the next dictionary or record batch, without its body. It returns io.EOF at
// the end, after which the input must end.
func (m *messages) nextMessage() (msg message, err error) {
	var p place
	if m.ended || m.footer && len(m.places) == 0 {
		return msg, io.EOF
	}
	if m.footer {
		p, m.places = m.places[0], m.places[1:]
		m.offset = p.offset
	}
	if m.file != nil {
		m.r = m.section(m.offset)
	}
	msg, err = readMessage(m.r, m.offset, m.schema.views)
	m.offset += msg.size
	switch {
	case err == io.EOF && msg.size == 0 && m.offset < m.end: // never of a pipe
		return msg, errShorter(m.offset)
	case m.footer && (err == io.EOF || err == nil && (msg.kind != p.kind || msg.summary.body != p.body)):
		return msg, damaged("found a message of kind %d and %d bytes, expected kind %d and %d bytes as in the footer",
			msg.kind, msg.summary.body, p.kind, p.body).At(p.offset)
	case err == io.EOF:
		m.ended, m.noMark = true, msg.size == 0
		if n, err := io.ReadFull(m.r, make([]byte, 1)); n == 0 {
			return msg, err
		}
		return msg, damaged("found extra data after the end of the stream").At(m.offset)
	case err == nil && msg.kind == kindSchema && m.schema.metadata != nil:
		return msg, damaged("found a second schema, expected a dictionary or a record batch").At(msg.offset)
	}
	return msg, err
}

// readBody reads the body of msg, the last message.
func (m *messages) readBody(msg *message) (err error) {
	n, limit := msg.summary.body, int64(maxPiped)
	if m.file != nil {
		limit = maxBody
	}
	if msg.kind == kindDictionary {
		limit = maxDictionaries
	}
	if n > limit {
		return fault.New(fault.Unsupported, "the message has %d bytes in its body, expected at most %d", n, limit).
			At(msg.offset).WithHint("%s", hintSmaller)
	}
	msg.body, err = readBytes(m.r, int(n))
	m.offset += int64(len(msg.body))
	if err == io.ErrUnexpectedEOF {
		err = truncated(m.offset, "the input ends after %d of the %d bytes of a message", len(msg.body), n)
	}
	return err
}

// keep reads the dictionary in msg, which replaces one of the same id.
func (m *messages) keep(msg message) error {
	if msg.delta {
		return fault.New(fault.Unsupported, "found a delta dictionary, which extends an earlier one, expected a whole one").
			At(msg.offset).WithHint("%s", hintDictionary)
	}
	if err := m.readBody(&msg); err != nil {
		return err
	}
	known := slices.Clone(m.known) // record batches have the old one
	i := slices.IndexFunc(known, func(old message) bool { return old.id == msg.id })
	if i < 0 {
		known = append(known, msg)
	} else {
		m.held -= len(known[i].metadata) + len(known[i].body)
		known[i] = msg
	}
	m.known = known
	if m.held += len(msg.metadata) + len(msg.body); m.held > maxDictionaries {
		return fault.New(fault.Unsupported, "found dictionaries of more than %d bytes together", maxDictionaries).
			At(msg.offset).WithHint("%s", hintDictionary)
	}
	return nil
}

// A replay is an ipc.MessageReader of messages that were read before.
type replay struct {
	all  []message
	next int
}

func (r *replay) Message() (*ipc.Message, error) {
	if r.next == len(r.all) {
		return nil, io.EOF
	}
	m := r.all[r.next]
	r.next++
	return ipc.NewMessage(memory.NewBufferBytes(m.metadata), memory.NewBufferBytes(m.body)), nil
}

func (r *replay) Retain()  {}
func (r *replay) Release() {}

// decode returns the record batch in the last of all messages.
func decode(all []message) (b arrow.RecordBatch, err error) {
	last := &all[len(all)-1]
	defer func() { err = at(last.offset, err) }()
	defer columnar.Recovered(&err)
	limited := newAllocator(len(last.body))
	r, err := ipc.NewReaderFromMessageReader(&replay{all: all}, ipc.WithAllocator(limited))
	switch {
	case err != nil:
		return nil, damaged("the schema cannot be read: %v", err)
	case r.Next():
		return r.RecordBatch(), nil
	case limited.left < 0:
		return nil, fault.New(fault.Unsupported, "the record batch has more than %d bytes after decompression",
			limited.limit).WithHint("%s", hintSmaller)
	}
	return nil, damaged("a record batch cannot be decoded: %v", r.Err())
}

// at returns err with an offset, if it is a fault that has no place yet.
func at(offset int64, err error) error {
	if e := (*fault.Error)(nil); errors.As(err, &e) && e.Column == "" {
		return fault.Place(err, "", -1, offset)
	}
	return err
}

// damaged returns the error for damage.
func damaged(message string, values ...any) *fault.Error {
	return fault.New(fault.Malformed, message, values...).
		WithHint("the file is damaged, or its writer has a defect: download or write it again")
}

// truncated returns the error for an input that ends at offset.
func truncated(offset int64, message string, values ...any) *fault.Error {
	return fault.New(fault.Truncated, message, values...).At(offset).
		WithHint("the file is incomplete: download or write it again")
}
