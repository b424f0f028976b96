package arrow

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// writeDictionaries writes the dictionaries of all columns that have one, and notes where. arrow-go numbers those of a schema from 0, depth first; none
// are inside of other columns.
func (s *Sink) writeDictionaries() error {
	s.dictionaries = nil
	for _, c := range s.columns {
		if c.Names == nil {
			continue
		}
		at, err := s.writeDictionary(int64(len(s.dictionaries)), c.Names)
		if err != nil {
			return err
		}
		s.dictionaries = append(s.dictionaries, at)
	}
	return nil
}

// writeDictionary writes names as the dictionary of the number id, and tells where.
func (s *Sink) writeDictionary(id int64, names []string) (block, error) {
	builder := array.NewStringBuilder(memory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(names, nil)
	values := builder.NewStringArray()
	defer values.Release()

	r := recordBatch{rows: len(names), codec: s.codec}
	offsets, text := values.Data().Buffers()[1], values.ValueBytes()
	r.nodes = []node{{length: len(names)}}
	for _, buffer := range [][]byte{nil, offsets.Bytes()[:4*(len(names)+1)], text} { // no validity bitmap: no name is missing
		if err := r.addBuffer(buffer); err != nil {
			return block{}, err
		}
	}
	head := encapsulate(r.dictionaryMessage(id))
	at := block{offset: s.offset, metadata: len(head), body: r.size}
	err := s.write(head)
	if err == nil {
		err = s.write(r.body...)
	}
	r.release()
	return at, err
}
