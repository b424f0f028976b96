//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// A dtype is an element type of inputs that are made.
type dtype struct {
	code byte // in an IDX header
	size int  // bytes
}

// largeInputs are the inputs that are made, by element type: floats from 0 to 1, and bytes like
// images. Four fifths are 0.
var largeInputs = map[string]dtype{"float32": {0x0d, 4}, "uint8": {0x08, 1}}

// A record is 28×28 elements.
const recordElements = 28 * 28

// gib is n GiB in bytes.
func gib(n float64) int64 { return int64(n * (1 << 30)) }

// gibText is n GiB for people.
func gibText(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) + " GiB" }

// inputPath is the path of the input name.
func inputPath(work, name string) string { return filepath.Join(work, name+".idx") }

// input makes an input of about size bytes unless it exists or name is empty. It does so in a
// process of its own: Linux starts the peak memory of a process at its parent's, so this program
// must stay small.
func (s *settings) input(ctx context.Context, work, name string, size int64) error {
	path := inputPath(work, name)
	if _, err := os.Stat(path); err == nil || name == "" {
		return nil
	}
	_, err := s.once(ctx, []string{s.self, "-limit", "input", path, name, strconv.FormatInt(size, 10)}, work, work)
	return err
}

// makeInput writes to the file args[0] an IDX file of elements args[1], of 28×28 records and at
// most args[2] bytes of payload.
func makeInput(args []string) error {
	size, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(writeIDX(f, largeInputs[args[1]], size), f.Close())
}

// writeIDX writes size bytes of records. The block that is repeated is larger than a batch and than
// zstd's window at its fastest level (4 MiB), so that the repetition does not help compression.
func writeIDX(f *os.File, t dtype, size int64) error {
	const repeated = 8192 // records
	records := size / int64(recordElements*t.size)
	if records < 1 {
		return fmt.Errorf("an input of %d bytes, expected at least one record of %d", size, recordElements*t.size)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var block []byte
	for range min(records, repeated) * recordElements {
		v := max(0, 5*random.Float32()-4)
		if t.size == 4 {
			block = binary.BigEndian.AppendUint32(block, math.Float32bits(v))
		} else {
			block = append(block, byte(255*v))
		}
	}
	header := []byte{0, 0, t.code, 3}
	for _, d := range []int64{records, 28, 28} {
		header = binary.BigEndian.AppendUint32(header, uint32(d))
	}
	w := bufio.NewWriter(f)
	_, err := w.Write(header)
	for left := records * int64(recordElements*t.size); left > 0 && err == nil; {
		var n int
		n, err = w.Write(block[:min(left, int64(len(block)))])
		left -= int64(n)
	}
	return errors.Join(err, w.Flush())
}
