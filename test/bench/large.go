//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// makeLarge makes the large inputs once: floats of 0 to 1, and bytes like images, four fifths of them 0.
func (s *settings) makeLarge(work string) error {
	size := int64(s.bigGiB) << 30
	return errors.Join(
		makeIDX(filepath.Join(work, "float32.idx"), 0x0d, 4, size),
		makeIDX(filepath.Join(work, "uint8.idx"), 0x08, 1, size))
}

// makeIDX writes an IDX file of 28×28 records and about size bytes; a megabyte of values is repeated.
func makeIDX(path string, dtype byte, elementSize int, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const records = 1024
	random := rand.New(rand.NewPCG(1, 2))
	var block []byte
	for range records * 28 * 28 {
		v := max(0, 5*random.Float32()-4)
		if elementSize == 4 {
			block = binary.BigEndian.AppendUint32(block, math.Float32bits(v))
		} else {
			block = append(block, byte(255*v))
		}
	}
	blocks := size / int64(len(block))
	w := bufio.NewWriter(f)
	header := []byte{0, 0, dtype, 3}
	for _, d := range []int64{blocks * records, 28, 28} {
		header = binary.BigEndian.AppendUint32(header, uint32(d))
	}
	_, err = w.Write(header)
	for i := int64(0); i < blocks && err == nil; i++ {
		_, err = w.Write(block)
	}
	return errors.Join(err, w.Flush(), f.Close())
}

// curve prints time and memory of conversions to /dev/null for growing inputs, and for workers 1, 2 and 4.
func (s *settings) curve(work string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "input\tformat\tworkers\tms\tuser+sys ms\tpeak MB\tGB/s\t")
	for _, gib := range []int64{1, 2, 4, 8} {
		input := filepath.Join(work, "scale.idx")
		if err := makeIDX(input, 0x08, 1, gib<<30); err != nil {
			return err
		}
		for _, format := range []string{"arrow", "parquet", "csv"} {
			for _, workers := range []string{"1", "2", "4"} {
				var all []figures
				for range min(s.runs, 3) {
					f, err := s.once([]string{s.binary, "convert", input, "-o", format + "=/dev/null", "--workers", workers, "--quiet"}, work, work)
					if err != nil {
						return err
					}
					all = append(all, f)
				}
				m := medians(all)
				fmt.Fprintf(w, "%d GiB\t%s\t%s\t%.0f\t%.0f\t%.1f\t%.2f\t\n", gib, format, workers, m.Wall, m.CPU, m.Peak, float64(gib<<30)/1e6/m.Wall)
			}
		}
		if err := os.Remove(input); err != nil {
			return err
		}
	}
	return w.Flush()
}
