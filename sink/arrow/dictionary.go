package arrow

import "encoding/binary"

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
	offsets, text := make([]byte, 4, 4*(len(names)+1)), []byte{}
	for _, name := range names {
		text = append(text, name...)
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(text)))
	}
	r := recordBatch{rows: len(names), codec: s.codec, nodes: []node{{length: len(names)}}}
	for _, buffer := range [][]byte{nil, offsets, text} { // no validity bitmap: no name is missing
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
