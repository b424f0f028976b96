//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

// A scalePoint is what conversions of one input to /dev/null came to.
type scalePoint struct {
	GiB     float64
	Format  string
	Workers int
	Run     figures
	Speed   float64 // GB (10⁹ bytes) of input a second
}

// longRun is how many milliseconds a conversion takes that is not repeated: it is long against what
// disturbs it, and the whole curve must end in a quarter of an hour on two cores.
const longRun = 5000

// scaleRuns is how often shorter ones run.
const scaleRuns = 3

const scaleHead = "    input  format   workers        ms  user+sys ms  peak MB   GB/s"

func (p scalePoint) text() string {
	return fmt.Sprintf("%9s  %-7s  %7d  %8.0f  %11.0f  %7.1f  %5.2f", gibText(p.GiB), p.Format, p.Workers, p.Run.Wall, p.Run.CPU, p.Run.Peak, p.Speed)
}

// curve measures time and memory of conversions to /dev/null for growing inputs of bytes, and for
// workers 1, 2 and 4.
func (s *settings) curve(ctx context.Context, work string, sizes []float64) ([]scalePoint, error) {
	const name = "uint8"
	var points []scalePoint
	fmt.Println(scaleHead)
	for _, n := range sizes {
		if err := s.input(ctx, work, name, gib(n)); err != nil {
			return nil, err
		}
		for _, format := range []string{"arrow", "parquet", "csv"} {
			for _, workers := range []int{1, 2, 4} {
				f, err := s.scaleRun(ctx, work, format, workers)
				if err != nil {
					return nil, err
				}
				p := scalePoint{n, format, workers, f, float64(gib(n)) / 1e6 / f.Wall}
				points = append(points, p)
				fmt.Println(p.text())
			}
		}
		if err := os.Remove(inputPath(work, name)); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// scaleRun converts the input to /dev/null, once if that is long, else as often as scaleRuns or -n
// says.
func (s *settings) scaleRun(ctx context.Context, work, format string, workers int) (figures, error) {
	command := []string{s.binary, "convert", inputPath(work, "uint8"), "-o", format + "=/dev/null", "--workers", strconv.Itoa(workers), "--quiet"}
	var all []figures
	for range min(s.runs, scaleRuns) {
		f, err := s.once(ctx, command, work, work)
		if err != nil {
			return figures{}, err
		}
		all = append(all, f)
		if f.Wall > longRun {
			break
		}
	}
	return medians(all), nil
}
