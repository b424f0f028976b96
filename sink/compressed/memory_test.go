package compressed

import (
	"runtime"
	"sync"
	"testing"
)

// TestEncoderSize holds the constant against what the heap says of an encoder. It is not parallel, as others would use the heap meanwhile.
func TestEncoderSize(t *testing.T) {
	block := makeBlocks([]int{1 << 20})[0]
	z := NewZstd(10)
	before := heap()
	frame, err := z.Append(make([]byte, 0, 2*len(block)), block)
	if err != nil {
		t.Fatal(err)
	}
	kept := heap() - before - int64(cap(frame))
	if stated := (Codec{"zstd", 10}).EncoderSize(); kept > stated || kept < stated*9/10 {
		t.Errorf("an encoder keeps %d bytes, but EncoderSize says %d", kept, stated)
	}
	runtime.KeepAlive(z)
	runtime.KeepAlive(frame)
}

// heap is the number of bytes in use on the heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestEncodersAreReused has many goroutines compress, never more than two at once.
func TestEncodersAreReused(t *testing.T) {
	t.Parallel()
	z := NewZstd(1)
	block := makeBlocks([]int{0, 0, 0, 5000})[3]
	turns := make(chan struct{}, 2)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if _, err := z.Append(nil, block); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(z.free); n < 1 || n > 2 {
		t.Errorf("found %d encoders, expected no more than the two that were at work", n)
	}
}
