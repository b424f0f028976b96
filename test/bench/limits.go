//go:build linux

// Command bench does the least work that any program needs for a result: run.py compares it with
// idxport. Each run is one such limit.
//
// usage: bench write|sync BYTES FILE | compress IN OUT | create FILES FOLDER | inflate FILE
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func main() {
	limits := map[string]func(args []string) error{
		"write":    func(args []string) error { return limitWrite(args, false) },
		"sync":     func(args []string) error { return limitWrite(args, true) },
		"compress": limitCompress,
		"create":   limitCreate,
		"inflate":  limitInflate,
	}
	if err := limits[os.Args[1]](os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

// block is how much a limit reads or writes at a time.
const block = 1 << 20

// limitWrite writes args[0] bytes of text to the file args[1], and has them reach the disk if
// durable.
func limitWrite(args []string, durable bool) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	f, err := os.Create(args[1])
	if err != nil {
		return err
	}
	text := bytes.Repeat([]byte("0,0,254,"), block/8)
	for n > 0 && err == nil {
		var k int
		k, err = f.Write(text[:min(n, len(text))])
		n -= k
	}
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// limitInflate decompresses the gzip file args[0] with one goroutine and keeps nothing.
func limitInflate(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close() // read-only: an error does not matter
	z, err := gzip.NewReader(bufio.NewReaderSize(f, block))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, z, make([]byte, block))
	return err
}

// limitCompress reads the file args[0], compresses it by blocks with two goroutines at zstd's
// fastest level, and writes the result to args[1].
func limitCompress(args []string) error {
	in, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer in.Close() // read-only: an error does not matter
	out, err := os.Create(args[1])
	if err != nil {
		return err
	}
	const workers, depth = 2, 8
	type job struct {
		raw, packed []byte
		done        chan struct{}
	}
	free, work, order := make(chan *job, depth), make(chan *job, depth), make(chan *job, depth)
	for range depth {
		free <- &job{raw: make([]byte, block), done: make(chan struct{}, 1)}
	}
	for range workers {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		go func() {
			for j := range work {
				j.packed = e.EncodeAll(j.raw, j.packed[:0])
				j.done <- struct{}{}
			}
		}()
	}
	var readErr error
	go func() {
		defer close(order)
		defer close(work)
		for readErr == nil {
			j := <-free
			var n int
			n, readErr = io.ReadFull(in, j.raw[:block])
			if j.raw = j.raw[:n]; n > 0 {
				order <- j
				work <- j
			}
		}
	}()
	for j := range order {
		<-j.done
		if _, err := out.Write(j.packed); err != nil {
			return err
		}
		free <- j
	}
	if !errors.Is(readErr, io.EOF) && !errors.Is(readErr, io.ErrUnexpectedEOF) {
		return readErr
	}
	return out.Close()
}

// limitCreate creates args[0] files of 300 bytes in ten folders below args[1] with two goroutines.
func limitCreate(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	const folders, workers = 10, 2
	for i := range folders {
		if err := os.MkdirAll(filepath.Join(args[1], strconv.Itoa(i)), 0o777); err != nil {
			return err
		}
	}
	data := make([]byte, 300)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = os.WriteFile(fmt.Sprintf("%s/%d/%05d.png", args[1], i%folders, i), data, 0o666)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
