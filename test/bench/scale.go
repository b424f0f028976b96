//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

// A scalePoint is the measurement of one input, format and number of workers.
type scalePoint struct {
	gib     float64
	format  string
	workers int
	run     figures
	speed   float64 // GB (10⁹ bytes) of input per second
}

// scaleRuns is how often a conversion runs. One that takes longRun milliseconds runs once: it is
// hardly disturbed, and the whole curve must end in a quarter of an hour on two cores.
const scaleRuns, longRun = 3, 5000

// curve measures conversions to /dev/null of growing inputs of bytes with 1, 2 and 4 workers.
func (s *settings) curve(ctx context.Context, work string) ([]scalePoint, error) {
	const name = "uint8"
	var points []scalePoint
	for _, factor := range []float64{0.5, 1, 2, 4} {
		size := factor * s.bigGiB
		if err := s.input(ctx, work, name, gib(size)); err != nil {
			return nil, err
		}
		for _, format := range []string{"arrow", "parquet", "csv"} {
			for _, workers := range []int{1, 2, 4} {
				f, err := s.scaleRun(ctx, work, format, workers)
				if err != nil {
					return nil, err
				}
				p := scalePoint{size, format, workers, f, float64(gib(size)) / 1e6 / f.wall}
				points = append(points, p)
				fmt.Printf("%9s  %-7s  %d workers  %8.0f ms, user+sys %8.0f ms, peak %6.1f MB, %5.2f GB/s\n",
					gibText(size), format, workers, f.wall, f.cpu, f.peak, p.speed)
			}
		}
		if err := os.Remove(inputPath(work, name)); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// scaleRun is the median of conversions of the input to /dev/null.
func (s *settings) scaleRun(ctx context.Context, work, format string, workers int) (figures, error) {
	command := []string{s.binary, "convert", inputPath(work, "uint8"), "-o", format + "=/dev/null", "--workers", strconv.Itoa(workers), "--quiet"}
	var all []figures
	for range min(s.runs, scaleRuns) {
		f, err := s.once(ctx, command, work, work)
		if err != nil {
			return figures{}, err
		}
		all = append(all, f)
		if f.wall > longRun {
			break
		}
	}
	return medians(all), nil
}
