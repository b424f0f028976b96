package summary

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// MaxLabels is the maximum number of distinct values for which a column's values are counted.
const MaxLabels = 65536

// A Column has the statistics of one column.
type Column struct {
	Elements int64
	Zeros    int64 // including −0
	NaNs     int64
	Infs     int64   // of both signs
	Min, Max float64 // of the finite elements; +Inf and −Inf if there are none. Integers are exact.
	Sum      float64 // of the finite elements; exact for integers up to 2⁵³
	// Counts is the number of occurrences of each value, for scalar columns of integers with at
	// most MaxLabels distinct values; nil otherwise.
	Counts map[int64]int64
}

// Finite returns the number of elements that are neither NaN nor infinite.
func (c Column) Finite() int64 { return c.Elements - c.NaNs - c.Infs }

// Mean returns the mean of the finite elements, NaN if there are none.
func (c Column) Mean() float64 { return c.Sum / float64(c.Finite()) }

// A Sink collects the statistics of a table's columns. It implements sink.Sink.
type Sink struct {
	Columns   []Column // complete once the sink is closed
	schema    *schema.Schema
	uncounted []atomic.Bool // columns with too many distinct values to count
}

// New returns a sink for tables of the schema s.
func New(s *schema.Schema) *Sink {
	return &Sink{schema: s, Columns: empty(s), uncounted: make([]atomic.Bool, len(s.Columns))}
}

// Encode computes the statistics of b; the step adds them to those of the table.
func (k *Sink) Encode(_ context.Context, b schema.Batch) (func() error, error) {
	sums := empty(k.schema)
	for i, c := range k.schema.Columns {
		if k.uncounted[i].Load() {
			sums[i].Counts = nil
		}
		sums[i].addElements(c.DType, b.Columns[i])
	}
	return func() error {
		for i := range sums {
			k.Columns[i].add(sums[i])
			k.uncounted[i].Store(k.Columns[i].Counts == nil)
		}
		return nil
	}, nil
}

// Close does nothing.
func (k *Sink) Close() error { return nil }

// empty returns the statistics of the columns of s before the first element.
func empty(s *schema.Schema) []Column {
	all := make([]Column, len(s.Columns))
	for i, c := range s.Columns {
		all[i].Min, all[i].Max = math.Inf(1), math.Inf(-1)
		if c.Scalar() && c.Integer() {
			all[i].Counts = map[int64]int64{}
		}
	}
	return all
}

// add adds b, the statistics of later elements.
func (c *Column) add(b Column) {
	c.Min, c.Max = min(c.Min, b.Min), max(c.Max, b.Max)
	c.Elements, c.Zeros, c.NaNs, c.Infs = c.Elements+b.Elements, c.Zeros+b.Zeros, c.NaNs+b.NaNs, c.Infs+b.Infs
	c.Sum += b.Sum
	if c.Counts != nil {
		for v, n := range b.Counts {
			c.Counts[v] += n
		}
	}
	if len(c.Counts) > MaxLabels {
		c.Counts = nil
	}
}

// addElements adds the elements of data, which are little-endian, of type d.
func (c *Column) addElements(d idx.DType, data []byte) {
	if d.Size() > 1 {
		for i := range len(data) / d.Size() {
			c.addValue(source.Float(d, data, i), 1)
		}
		return
	}
	var counts [256]int64 // of each byte
	for _, b := range data {
		counts[b]++
	}
	for b, n := range counts {
		if n > 0 {
			c.addValue(source.Float(d, []byte{byte(b)}, 0), n)
		}
	}
}

// addValue adds n elements of value v.
func (c *Column) addValue(v float64, n int64) {
	c.Elements += n
	switch {
	case math.IsNaN(v):
		c.NaNs += n
		return
	case math.IsInf(v, 0):
		c.Infs += n
		return
	case v == 0:
		c.Zeros += n
	}
	c.Min, c.Max = min(c.Min, v), max(c.Max, v)
	c.Sum += v * float64(n)
	if c.Counts != nil {
		c.Counts[int64(v)] += n
	}
}
