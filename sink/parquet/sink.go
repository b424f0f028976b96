package parquet

import (
	"cmp"
	"context"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/layout"
)

// Options of a file. The zero value is right for most.
type Options struct {
	// Compression is the codec's name, one of Codecs; zstd if empty.
	Compression string
	// Level is the codec's own: 1 to 22 for zstd, 1 to 9 for gzip and lz4_raw. 0 is its default: the fastest for zstd and lz4_raw, as higher
	// levels gain next to nothing on images.
	Level int
	// Layout is how tensors are represented: a name that layout.Get knows.
	Layout string
	// Channels says where the channels of images are, for layouts of images: "last", which empty means too, or "first".
	Channels string
	// Version of the program, as "1.2.3 (build abc)": what the file says it was created by.
	Version string
}

// A codec compresses pages.
type codec struct {
	id format.CompressionCodec
	// encode compresses src into dst, whose contents are overwritten and which grows as needed. It is safe on many goroutines; nil if
	// pages are not compressed.
	encode func(dst, src []byte) ([]byte, error)
}

// codecs tells which codecs there are, the default first.
func codecs() []compressed.Choice[codec] {
	return []compressed.Choice[codec]{
		{Name: "zstd", MaxLevel: 22, Make: newZstd},
		{Name: "none", Make: func(int) codec { return codec{id: format.Uncompressed} }},
		{Name: "snappy", Make: func(int) codec { return codec{format.Snappy, new(snappy.Codec).Encode} }},
		{Name: "gzip", MaxLevel: 9, Make: newGzip},
		{Name: "lz4_raw", MaxLevel: 9, Make: newLZ4},
	}
}

// Codecs lists the values of Options.Compression, the default first.
func Codecs() []string { return compressed.Names(codecs()) }

func unsupported(message string, values ...any) error {
	return fault.New(fault.Usage, "parquet: "+message, values...)
}

func newGzip(level int) codec {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	return codec{id: format.Gzip, encode: (&gzip.Codec{Level: level}).Encode}
}

func newZstd(level int) codec {
	frames := compressed.NewZstd(level, zstd.WithEncoderCRC(false)) // a page has a CRC of its own
	return codec{format.Zstd, func(dst, src []byte) ([]byte, error) { return frames.Append(dst[:0], src) }}
}

// newLZ4 compresses blocks itself: parquet-go's codec has no way to ask for lz4's plain compressor, several times as fast as the one with levels,
// that would keep its 256 KiB of tables between pages.
func newLZ4(level int) codec {
	var pool sync.Pool
	return codec{id: format.Lz4Raw, encode: func(dst, src []byte) ([]byte, error) {
		if len(src) > math.MaxInt32-1<<24 { // the bound below must fit a page's size
			return nil, errPageSize
		}
		bound := lz4.CompressBlockBound(len(src))
		if cap(dst) < bound {
			dst = make([]byte, bound)
		}
		dst = dst[:bound]
		if level > 0 {
			n, err := lz4.CompressBlockHC(src, dst, lz4.CompressionLevel(1<<(8+level)), nil, nil)
			return dst[:n], err
		}
		c, _ := pool.Get().(*lz4.Compressor)
		if c == nil {
			c = new(lz4.Compressor)
		}
		defer pool.Put(c)
		n, err := c.CompressBlock(src, dst)
		return dst[:n], err
	}}
}

// magic is at both ends of a file.
const magic = "PAR1"

// A Sink writes one file. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	// What Encode and the steps share does not change.
	schema       *schema.Schema
	columns      []layout.Column
	leaves       []leaf
	pages        pageCompressor // with the codec that was asked for
	plain        pageCompressor // for values that are compressed already
	encoderSize  int64          // bytes that each goroutine which compresses keeps
	maxGroupRows int
	footer       format.FileMetaData // without rows and row groups

	// What follows is the steps' alone.
	out         output
	distinct    distinct // of a scalar's chunk
	chunks      []chunk  // of the row group that is being written, one for each leaf
	groupRows   int      // rows in it
	groupOffset int64    // where it starts
	held        int64    // bytes of it in memory
	rows        int64    // rows of the row groups before it
	groups      []format.RowGroup
	indexes     []chunkIndex // of all chunks, row group by row group
}

// New starts a file of s in w. It writes a few bytes. The error is fault.Usage if the layout cannot hold
// one of the columns, if a record is too large for a page, or if o asks for a codec or a level that does not exist.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	wanted := compressed.Codec{Name: cmp.Or(o.Compression, codecs()[0].Name), Level: o.Level}
	codec, err := compressed.Find(codecs(), wanted)
	if err != nil {
		return nil, unsupported("%v", err)
	}
	columns, s, err := layout.Represent(s, o.Layout, o.Channels)
	if err != nil {
		return nil, err
	}
	made := &Sink{schema: s, columns: columns, maxGroupRows: groupRows(s), pages: pageCompressor{codec: codec}, encoderSize: wanted.EncoderSize(), out: output{w: w}}
	if err := made.plan(); err != nil {
		return nil, err
	}
	made.footer = newFooter(s, columns, len(made.leaves), o.Version)
	return made, made.out.write([]byte(magic))
}

// plan decides how the leaves of the columns are written.
func (s *Sink) plan() error {
	rows := s.maxGroupRows
	if s.schema.Rows >= 0 {
		rows = int(min(int64(rows), s.schema.Rows))
	}
	for _, column := range s.columns {
		for _, l := range column.Leaves {
			x := &s.pages
			if l.Compressed {
				x = &s.plain
			}
			planned, err := newLeaf(l, column.Source, rows, x)
			if err != nil {
				return err
			}
			if err := planned.check(s.schema); err != nil {
				return err
			}
			s.leaves = append(s.leaves, planned)
		}
	}
	s.chunks = make([]chunk, len(s.leaves))
	return nil
}

// A piece is what Encode makes of a batch for one leaf: a page, or what is needed of a scalar's elements.
type piece struct {
	page   page
	values []byte
}

// Encode makes the pages of the tensor columns of b: see sink.Sink. Where nothing is compressed, they are b's own memory.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if err := layout.Check(s.columns, b); err != nil {
		return nil, err
	}
	prepared := layout.Prepared(s.columns, b)
	pieces := make([]piece, len(s.leaves))
	for i := range s.leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, data := &s.leaves[i], prepared[s.leaves[i].source]
		if l.Scalar {
			pieces[i].values = l.Values(data, b.Rows)
			continue
		}
		var err error
		if pieces[i].page, err = l.page(data, b.Rows); err != nil {
			return nil, err
		}
	}
	return func() error { return s.append(b.Rows, pieces) }, nil
}

// BatchSize is the most memory that the pages of rows rows, and making them, take beside the batch: see sink.Sizer.
func (s *Sink) BatchSize(rows int) int64 {
	size := int64(0)
	for i := range s.leaves {
		l := &s.leaves[i]
		switch {
		case l.Names != nil:
			size += int64(rows) * layout.NameIndexSize
		case l.Scalar:
			if l.Allocates {
				size += int64(rows * l.Element.Size())
			}
		case l.pages.codec.encode != nil || l.widens() || l.Allocates:
			size += l.bodySize(rows)
		default:
			size += int64(rows) * int64(len(l.Repetition))
		}
	}
	return size + s.encoderSize
}

// Close ends the file.
func (s *Sink) Close() error {
	if s.groupRows > 0 {
		if err := s.endGroup(); err != nil {
			return err
		}
	}
	if err := s.writeIndexes(); err != nil {
		return err
	}
	return s.writeFooter()
}

// Next ends the file and begins another in w: see sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.out = output{w: w}
	s.rows, s.groups, s.indexes = 0, nil, nil
	return s.out.write([]byte(magic))
}

// Held is the size of the pages that wait for the end of their row group.
func (s *Sink) Held() int64 { return s.held }
