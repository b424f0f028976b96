package parquet

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/layout"
)

// arrowSchemaKey is the metadata in which Arrow's Parquet readers look for the Arrow schema of a file, what Parquet's own does not tell:
// FixedSizeList and the fields' metadata.
const arrowSchemaKey = "ARROW:schema"

// newFooter is what the footer tells of a file before its rows are known.
func newFooter(s *schema.Schema, columns []layout.Column, leaves int, version string) (format.FileMetaData, error) {
	arrowSchema, err := encodeArrowSchema(s, columns)
	if err != nil {
		return format.FileMetaData{}, err
	}
	footer := format.FileMetaData{
		Version:   2,
		CreatedBy: "idxport version " + version,
		Schema:    []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(columns)))}},
	}
	for _, c := range columns {
		footer.Schema = append(footer.Schema, c.Elements...)
	}
	for _, p := range s.Meta {
		footer.KeyValueMetadata = append(footer.KeyValueMetadata, format.KeyValue{Key: p.Key, Value: p.Value})
	}
	footer.KeyValueMetadata = append(footer.KeyValueMetadata, format.KeyValue{Key: arrowSchemaKey, Value: arrowSchema})
	for range leaves { // without it, readers must not trust the bounds of unsigned columns
		footer.ColumnOrders = append(footer.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	return footer, nil
}

// encodeArrowSchema is the Arrow schema of s as an encapsulated IPC message in base64. It repeats the metadata of s: pyarrow's data sets take it
// from here, and everybody else from the file's.
func encodeArrowSchema(s *schema.Schema, columns []layout.Column) (string, error) {
	payload := ipc.GetSchemaPayload(layout.Schema(s, columns), memory.DefaultAllocator)
	defer payload.Release()
	var message bytes.Buffer
	if _, err := payload.WritePayload(&message); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(message.Bytes()), nil
}

// writeIndexes writes the column indexes of all chunks, then their offset indexes, as readers that skip pages want them together.
func (s *Sink) writeIndexes() error {
	for i, index := range s.indexes {
		if index.column == nil {
			continue
		}
		c := s.column(i)
		if err := s.writeIndex(index.column, &c.ColumnIndexOffset, &c.ColumnIndexLength); err != nil {
			return err
		}
	}
	for i, index := range s.indexes {
		c := s.column(i)
		if err := s.writeIndex(index.offset, &c.OffsetIndexOffset, &c.OffsetIndexLength); err != nil {
			return err
		}
	}
	return nil
}

// column is the description of the i-th chunk of the file.
func (s *Sink) column(i int) *format.ColumnChunk {
	return &s.groups[i/len(s.leaves)].Columns[i%len(s.leaves)]
}

// writeIndex writes index and notes where.
func (s *Sink) writeIndex(index any, offset *int64, size *int32) error {
	encoded, err := marshal(index)
	if err != nil {
		return err
	}
	*offset, *size = s.out.offset, int32(len(encoded))
	return s.out.write(encoded)
}

func (s *Sink) writeFooter() error {
	s.footer.NumRows = s.rows
	s.footer.RowGroups = s.groups
	footer, err := marshal(&s.footer)
	if err != nil {
		return err
	}
	end := append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...)
	return s.out.write(footer, end)
}
