package arrow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Continuation precedes all messages and the end mark, a zero: see Columnar.rst, "Encapsulated".
const Continuation = "\xff\xff\xff\xff"
const magic = "ARROW1" // at both ends of a file

// Limits of a message, in bytes.
const (
	maxMetadata     = 64 << 20 // that of 4,096 columns has less than 1 MiB
	maxBody         = 1 << 30
	maxDictionaries = 16 << 20 // all of them together: useful ones, of numbers or names, are far smaller
	block           = 4 << 20  // memory that is allocated before input arrives to fill it
)

const hintSmaller = "write it in smaller record batches"

// A message is the metadata of a message, and its body if it has been read.
type message struct {
	summary
	offset, size   int64 // size: bytes of the prefix and the metadata
	metadata, data []byte
}

// messages reads the messages of a file, in the order of its footer, or of a stream.
type messages struct {
	r      io.Reader   // at the next message, or at the body of the last one
	offset int64       // of r in the input
	file   source.File // nil if the input is a pipe
	end    int64       // of the messages in file
	rows   int64       // of file, or −1
	failed error       // the first error of a read of file

	footer bool      // of a file
	places []int64   // with a footer: the messages that follow
	schema message   // which all record batches need
	known  []message // the current dictionaries
	first  int64     // row of the next record batch
	left   int64     // bytes of file for the messages that follow, which do not overlap
	ended  bool
}

// A batch is a record batch, which is decoded when it is needed.
type batch struct {
	message
	first  int64 // row
	record func() (arrow.RecordBatch, error)
	passed int // number of leaves that have its entries
}

// open reads what is before the first record batch, and returns the schema.
func (m *messages) open() (*arrow.Schema, error) {
	if endian.IsBigEndian { // arrow-go swaps the bytes of messages, of dictionaries at each use
		return nil, columnar.Unsupported("convert it on another machine, or write it as Parquet there",
			"this is a big-endian processor, on which Arrow cannot be read")
	}
	m.rows, m.left = -1, m.end
	if m.file != nil {
		m.r = io.NewSectionReader(m, 0, m.end)
	}
	prefix, err := readBytes(m.r, len(magic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	m.r = io.MultiReader(bytes.NewReader(prefix), m.r) // of a pipe
	switch m.footer = string(prefix) == magic && m.file != nil; {
	case m.footer:
		m.schema, err = m.readFooter()
	case bytes.HasPrefix(prefix, []byte(Continuation)):
		m.schema, err = m.nextMessage()
	default:
		err = fault.New(fault.Unsupported, "found %q, expected an Arrow file (ARROW1), not in a pipe, or a stream "+
			"(ff ff ff ff)", prefix).At(0).WithHint("give the path of the file, with the extension of its format; " +
			"write it again if older than Feather 2; download the file itself if it is a web page or a Git LFS pointer")
	}
	if err == io.EOF || err == nil && m.schema.kind != ipc.MessageSchema {
		err = columnar.Damaged("found no schema at the beginning").At(m.schema.offset)
	}
	all := *m
	for ; err == nil && m.file != nil; _, err = all.next(func(*message) bool { return false }) {
		m.rows = all.first
	}
	if m.footer && err == io.EOF {
		err = source.CheckAlone(m, magic, magic, m.end-all.offset-8) // an end mark is between
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return decodeSchema(m.schema)
}

// readFooter reads the footer of a file, whose length and the magic number are its last bytes. It
// returns the schema, which is between the first magic number, with padding, and the first message.
func (m *messages) readFooter() (schema message, err error) {
	const head = 8
	footer, start, err := columnar.Footer(m, m.end, magic, head, maxMetadata)
	if m.end = start; err != nil {
		return schema, err
	} else if m.places, err = blocks(footer); err != nil {
		return schema, fault.Place(err, "", -1, start)
	}
	first := slices.Min(append(m.places, start))
	if first < head || first > maxMetadata {
		return schema, columnar.Damaged("found a first message at byte %d in the footer", first).At(start)
	}
	metadata := make([]byte, first-head)
	if _, err := m.ReadAt(metadata, head); err != nil {
		return schema, err
	}
	schema.metadata = bytes.TrimLeft(metadata, "\x00")
	if bytes.HasPrefix(schema.metadata, []byte(Continuation)) { // polars writes no prefix before the schema
		schema.metadata = schema.metadata[min(8, len(schema.metadata)):]
	}
	schema.summary, err = summarize(schema.metadata, nil)
	return schema, fault.Place(err, "", -1, head)
}

// ReadAt fills p with the bytes of the file at offset.
func (m *messages) ReadAt(p []byte, offset int64) (int, error) {
	n, err := columnar.ReadAt(m.file, p, offset)
	m.failed = cmp.Or(m.failed, err)
	return n, err
}

// readMessage reads the metadata of a message and checks it. It returns io.EOF at the end mark.
func readMessage(r io.Reader, offset int64, views map[int64]int) (msg message, err error) {
	defer func() { err = fault.Place(err, "", -1, offset) }()
	msg.offset = offset
	prefix, err := readBytes(r, 8)
	if err == nil {
		length := binary.LittleEndian.Uint32(prefix[4:])
		switch msg.size = 8 + int64(length); {
		case string(prefix[:4]) != Continuation:
			return msg, columnar.Damaged("found % x, expected ff ff ff ff, which begins a message", prefix[:4])
		case length == 0:
			return msg, io.EOF
		case length > maxMetadata:
			return msg, columnar.Damaged("found metadata of %d bytes, expected at most %d", length, maxMetadata)
		}
		msg.metadata, err = readBytes(r, int(length))
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = columnar.CutShort("the input ends within the message or end mark that begins here")
	}
	if err == nil {
		msg.summary, err = summarize(msg.metadata, views)
	}
	return msg, err
}

// readBytes reads n bytes. Memory grows with the bytes that arrive rather than with n, unless r is
// a part of a file that has as many. The error is io.EOF if fewer arrive.
func readBytes(r io.Reader, n int) ([]byte, error) {
	size := min(n, block)
	if s, ok := r.(*io.SectionReader); ok && int64(n) <= s.Size() {
		size = n
	}
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := io.CopyN(b, r, int64(n))
	return b.Bytes(), err
}

// passBody reads or skips the body of msg, the last message.
func (m *messages) passBody(msg *message, read bool) (err error) {
	limit, n := int64(maxBody), msg.body
	if msg.kind == ipc.MessageDictionaryBatch {
		limit = maxDictionaries - msg.size
		for _, d := range m.known {
			limit -= d.size + d.body
		}
	}
	switch {
	case !read && m.file != nil:
		n = min(n, m.end-m.offset)
	case !read:
		n, err = io.CopyN(io.Discard, m.r, n)
	case n > limit:
		return columnar.Unsupported(hintSmaller, "found a body of %d bytes, expected up to %d", n, limit).At(msg.offset)
	default:
		msg.data, err = readBytes(m.r, int(n))
		n = int64(len(msg.data))
	}
	m.offset += n
	if n < msg.body && (err == nil || err == io.EOF) {
		err = columnar.CutShort("the input ends after %d of the %d bytes of a message", n, msg.body).At(m.offset)
	}
	if m.left -= msg.size + msg.body; err == nil && m.file != nil && m.left < 0 {
		err = columnar.Damaged("found messages of more bytes than the file has").At(msg.offset)
	}
	return err
}

// next returns the next record batch, and keeps the dictionaries before it, each of which replaces
// one of the same id. It reads the body of the batch if wanted reports that it is needed.
func (m *messages) next(wanted func(*message) bool) (*batch, error) {
	for {
		msg, err := m.nextMessage()
		if err != nil {
			return nil, err
		}
		if msg.kind == ipc.MessageDictionaryBatch {
			m.known = slices.DeleteFunc(m.known, func(old message) bool { return old.id == msg.id })
			if err := m.passBody(&msg, true); err != nil {
				return nil, err
			}
			m.known = append(m.known, msg)
			continue
		}
		err = m.passBody(&msg, wanted(&msg))
		all := slices.Concat([]message{m.schema}, m.known, []message{msg})
		record := sync.OnceValues(func() (arrow.RecordBatch, error) { return decode(all) })
		b := &batch{message: msg, first: m.first, record: record}
		if m.first += msg.rows; m.first > maxRows {
			err = columnar.Damaged("found more than %d rows", int64(maxRows)).At(msg.offset)
		}
		return b, err
	}
}

// nextMessage returns the next message, without its body, or io.EOF: then the input must end.
func (m *messages) nextMessage() (msg message, err error) {
	if m.ended || m.footer && len(m.places) == 0 {
		return msg, io.EOF
	}
	if m.footer {
		m.offset, m.places = m.places[0], m.places[1:]
		if m.offset < 0 || m.offset >= m.end {
			return msg, columnar.Damaged("the footer lists a message at byte %d", m.offset)
		}
	}
	if m.file != nil {
		m.r = io.NewSectionReader(m, m.offset, m.end-m.offset)
	}
	msg, err = readMessage(m.r, m.offset, m.schema.views)
	m.offset += msg.size
	switch {
	case err == io.EOF:
		m.ended = true
		if n, err := io.ReadFull(m.r, make([]byte, 1)); n == 0 && len(m.places) == 0 {
			return msg, err
		}
		err = columnar.Damaged("found more data after the end mark").At(m.offset)
	case err == nil && msg.kind == ipc.MessageSchema && m.schema.metadata != nil:
		err = columnar.Damaged("found a second schema, expected a dictionary or a record batch").At(msg.offset)
	}
	return msg, err
}

// A replay is an ipc.MessageReader of messages that were read before.
type replay []message

func (r *replay) Message() (*ipc.Message, error) {
	if len(*r) == 0 {
		return nil, io.EOF
	}
	m := (*r)[0]
	*r = (*r)[1:]
	return ipc.NewMessage(memory.NewBufferBytes(m.metadata), memory.NewBufferBytes(m.data)), nil
}

func (r *replay) Retain()  {}
func (r *replay) Release() {}

func decodeSchema(msg message) (*arrow.Schema, error) {
	r, err := ipc.NewReaderFromMessageReader(&replay{msg})
	if err != nil {
		const hint = "cast the column in the program that wrote it"
		return nil, columnar.Unsupported(hint, "the schema cannot be read: %v", err).At(msg.offset)
	}
	return r.Schema(), nil
}

// decode returns the record batch in the last of all messages.
func decode(all replay) (b arrow.RecordBatch, err error) {
	last := &all[len(all)-1]
	defer func() { err = fault.Place(err, "", -1, last.offset) }()
	defer fault.Recovered(&err)
	limit := &budget{memory.DefaultAllocator, last.maxPlain(), last.errPlain()}
	r, err := ipc.NewReaderFromMessageReader(&all, ipc.WithAllocator(limit))
	switch {
	case err == nil && r.Next():
		return r.RecordBatch(), nil
	case limit.left < 0:
		return nil, limit.err
	case err == nil:
		err = r.Err()
	}
	return nil, columnar.Damaged("a record batch cannot be decoded: %v", err)
}
