// Package sourcetest contains helpers for the tests of several readers.
package sourcetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idxport/idxport/source"
)

// ReadAll reads the remaining rows of t in batches of up to limit rows, two of which are in
// progress and decoded at the same time, and returns the data of all columns. Its error may be that
// of a column of the file that the table cannot have.
func ReadAll(t source.Table, limit int) ([][]byte, error) {
	for _, left := range source.About(t).Omitted {
		if left.Err != nil {
			return nil, left.Err
		}
	}
	data := make([][]byte, len(t.Columns()))
	slots := [2]source.Raw{{Cap: limit}, {Cap: limit}}
	first, next := int64(-1), int64(0)
	for ended := false; !ended; {
		n := 0
		for ; n < len(slots); n++ {
			b := &slots[n]
			err := t.Read(context.Background(), b)
			if ended = err == io.EOF; ended {
				break
			}
			if err != nil {
				return nil, err
			}
			if first < 0 {
				first, next = b.First, b.First
			}
			if b.First != next || b.Rows < 1 || b.Rows > limit {
				return nil, fmt.Errorf("found a batch of %d rows from %d on, expected up to %d from %d on",
					b.Rows, b.First, limit, next)
			}
			next += int64(b.Rows)
		}
		var wait sync.WaitGroup
		var errs [len(slots)]error
		for i := n - 1; i >= 0; i-- {
			wait.Go(func() { errs[i] = t.Decode(&slots[i]) })
		}
		wait.Wait()
		for i := range n {
			if errs[i] != nil {
				return nil, errs[i]
			}
			for k, c := range t.Columns() {
				column := slots[i].Columns[k]
				if len(column) != slots[i].Rows*c.RecordSize() {
					return nil, fmt.Errorf("found %d bytes for %d rows of column %s",
						len(column), slots[i].Rows, c.Name)
				}
				data[k] = append(data[k], column...)
				clear(column) // the caller of Decode may write to it
			}
		}
	}
	if rows := t.Rows(); rows >= 0 && first >= 0 && next != rows {
		return nil, fmt.Errorf("found rows up to %d, expected %d", next, rows)
	}
	return data, nil
}

// Expect reads the remaining rows of t, and compares them with columns and their data.
func Expect(tb testing.TB, t source.Table, limit int, columns []source.Column, data [][]byte) {
	tb.Helper()
	found, err := ReadAll(t, limit)
	if err != nil {
		tb.Fatal(err)
	}
	if len(found) != len(columns) {
		tb.Fatalf("found the columns %v, expected %v", t.Columns(), columns)
	}
	for i, c := range t.Columns() {
		if e := columns[i]; c.Name != e.Name || c.DType != e.DType || !slices.Equal(c.Shape, e.Shape) {
			tb.Errorf("found the column %s of %s %v, expected %s of %s %v",
				c.Name, c.DType, c.Shape, e.Name, e.DType, e.Shape)
		}
		if !bytes.Equal(found[i], data[i]) {
			tb.Errorf("column %s: found other values, %d bytes, expected %d", c.Name, len(found[i]), len(data[i]))
		}
	}
}

// A FailingReaderAt is a file of which one read fails with Err, after Left successful ones.
type FailingReaderAt struct {
	File  io.ReaderAt
	Left  int32 // negative: no read fails
	Calls atomic.Int32
	Err   error
}

// ReadAt reads from the file, or fails once. Reads after that succeed, so a caller that ignores the
// error is detected.
func (f *FailingReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if f.Calls.Add(1) == f.Left+1 {
		return 0, f.Err
	}
	return f.File.ReadAt(p, at)
}
