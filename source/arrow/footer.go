package arrow

import "encoding/binary"

// readFooter reads the footer of a file: its length and the magic number are the last 10 bytes.
func (d *feed) readFooter() error {
	const (
		tail               = 4 + len(magic)
		fieldSchema        = 1
		fieldDictionaries  = 2
		fieldRecordBatches = 3
	)
	var end [tail]byte
	if d.size < int64(8+tail) {
		return truncated(d.size, "the file has %d bytes, expected at least %d", d.size, 8+tail)
	}
	if _, err := d.file.ReadAt(end[:], d.size-int64(tail)); err != nil {
		return err
	}
	if string(end[4:]) != magic {
		return truncated(d.size, "found % x at the end, expected ARROW1, which ends a file", end[4:])
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	start := d.size - int64(tail) - length
	if length > maxMessage || start < 8 {
		return damaged(d.size-int64(tail), "the footer claims %d bytes in a file of %d", length, d.size)
	}
	footer := make([]byte, length) // is in the file
	if _, err := d.file.ReadAt(footer, start); err != nil {
		return err
	}
	t := (&flatBuffer{bytes: footer}).root()
	schema, ok := t.table(fieldSchema)
	if t.bad || !ok {
		return damaged(start, "the footer has no schema")
	}
	var err error
	if d.schema, err = parseSchema(schema, start); err != nil {
		return err
	}
	if len(d.schema.dictionaries) > 0 {
		all, err := blocks(t, fieldDictionaries, start, "dictionary", "dictionaries")
		if err != nil {
			return err
		}
		for _, p := range all {
			d.addDictionary(p)
		}
	}
	batches, err := blocks(t, fieldRecordBatches, start, "record batch", "record batches")
	d.blocks = append(d.blocks, batches...)
	if err != nil {
		return err
	}
	return d.countRows()
}

// blocks are the places in the field of the footer, which is at start.
func blocks(t flatTable, field int, start int64, one, many string) (all []place, err error) {
	const blockSize = 24 // struct Block {offset: long; metaDataLength: int; bodyLength: long}
	pos, n := t.vector(field, blockSize)
	left := start // bytes: no two blocks share any
	for i := range n {
		at := pos + i*blockSize
		p := place{offset: t.int64(at), metadata: t.int32(at + 8), body: t.int64(at + 16)}
		if p.offset < 8 || p.metadata <= 8 || p.body < 0 || p.offset > start || int64(p.metadata) > start-p.offset || p.body > start-p.offset-int64(p.metadata) {
			return nil, damaged(start, "the footer says that %s %d is %d+%d bytes at %d, expected it before the footer", one, i, p.metadata, p.body, p.offset)
		}
		if left -= int64(p.metadata) + p.body; left < 0 {
			return nil, damaged(start, "the footer tells of %s of more bytes than the %d before it", many, start)
		}
		all = append(all, p)
	}
	if t.bad {
		return nil, damaged(start, "the footer points outside of itself")
	}
	return all, nil
}

// countRows looks at all record batches that the footer tells of.
func (d *feed) countRows() error {
	d.rows = 0
	for i := range d.blocks {
		if d.blocks[i].dictionary {
			continue
		}
		b, err := d.batchAt(&d.blocks[i])
		if err != nil {
			return err
		}
		if b.size != d.blocks[i].body {
			return damaged(b.offset, "the record batch has a body of %d bytes, expected the %d of the footer", b.size, d.blocks[i].body)
		}
		if err := d.count(&d.blocks[i], b.rows); err != nil {
			return err
		}
	}
	return nil
}

// count adds the rows of the batch at p.
func (d *feed) count(p *place, rows int64) error {
	if rows > maxRows-d.rows {
		return damaged(p.offset, "the file claims more than %d rows", int64(maxRows))
	}
	p.rows = rows
	d.rows += rows
	return nil
}

// maxRows is more than any file has: a claim of more is damage, and could overflow.
const maxRows = 1 << 48
