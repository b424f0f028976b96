package compressed

import "github.com/klauspost/compress/zstd"

// A zstdEncoder makes a frame of each block. The library pools the state of its encoders, one for each processor.
type zstdEncoder struct{ frames *zstd.Encoder }

func newZstd(level int) (encoder, error) {
	if level == 0 {
		level = defaultZstdLevel
	}
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithEncoderCRC(true),
		zstd.WithAllLitEntropyCompression(true), // labels repeat no sequences; without it the fast levels store them as they are
		zstd.WithZeroFrames(true))               // EncodeAll of nothing gives an empty frame
	return zstdEncoder{e}, err
}

func (z zstdEncoder) encode(dst, block []byte) (Block, error) {
	return Block{data: z.frames.EncodeAll(block, dst[:0]), size: len(block)}, nil
}

func (zstdEncoder) header() []byte { return nil }

// trailer is empty, unless the stream is.
func (z zstdEncoder) trailer(_ uint32, size uint64) []byte {
	if size > 0 {
		return nil
	}
	return z.frames.EncodeAll(nil, nil)
}
