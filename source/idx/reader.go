package idx

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/idxport/idxport/fault"
)

const (
	// DefaultMaxRecordSize is the largest record that is accepted unless Options say otherwise: 16 MiB.
	DefaultMaxRecordSize = 16 << 20
	// MaxEmptyRecords is how many records of no elements are accepted: they cost no bytes, so a header of 16 bytes could claim billions.
	MaxEmptyRecords = 1 << 20
)

// Options say how to read. The zero value reads big-endian data of unknown size and demands that it is whole.
type Options struct {
	// Size is the number of bytes of the whole input, header included, where it is known before reading; else 0.
	Size int64
	// ClaimedSize is what the input says that Size is, where only reading can tell whether that is true; else 0. If the header says the same, Skip
	// seeks; if not, the input is read like one of unknown size. Skip then trusts the input to seek to where the record is: only reading from the start
	// checks that.
	ClaimedSize int64
	// MaxRecordSize is the largest record in bytes; 0 means DefaultMaxRecordSize.
	MaxRecordSize int64
	// LittleEndian says that the payload is little-endian; the header may be too.
	LittleEndian bool
	// Reshape reads the same elements as an array of these dimensions, in C order; one may be −1. With Salvage, the first is the only one
	// that may be −1, as the number of records is what a salvage finds out.
	Reshape []int
	// Salvage takes the whole records that are there from a file that is truncated, has trailing bytes, counts bytes in its first
	// dimension, or whose number of records was never filled in.
	Salvage bool
}

// A Reader reads the records of an IDX file from start to end, as they are in the file.
type Reader struct {
	r       io.Reader
	claim   Header // as it stands in the file
	header  Header // as it is read: claim, or its reshaping
	opts    Options
	records int64 // that will be read; −1: unknown until the end
	next    int64 // index of the next record
	err     error // that ended the reading; io.EOF if the end was reached and checked
	notes   []string
}

// NewReader reads the header and checks it: against the limit for records, and against the size where that is known. Nothing is
// allocated for the payload.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if o.MaxRecordSize == 0 {
		o.MaxRecordSize = DefaultMaxRecordSize
	}
	h, err := readHeader(r, o.LittleEndian)
	if err != nil && len(h.Dims) > 0 {
		return nil, cmp.Or(h.checkOrder(o.Size), err)
	}
	if err != nil {
		return nil, err
	}
	rd := &Reader{r: r, claim: h, header: h, opts: o}
	if err := rd.reshape(); err != nil {
		return nil, err
	}
	rd.records = rd.header.Records()
	if o.Size > 0 && !o.Salvage { // first: a size that is wrong says more than a limit
		if err := rd.checkSize(); err != nil {
			return nil, err
		}
	}
	if err := rd.checkRecord(); err != nil {
		return nil, err
	}
	if o.Salvage {
		rd.salvageCount()
	}
	return rd, nil
}

// Claim is the header as it stands in the file.
func (rd *Reader) Claim() Header { return rd.claim }

// Header is the header as the records are read: the file's, or its reshaping. After a salvage, its first dimension may differ from Records.
func (rd *Reader) Header() Header { return rd.header }

// Records is the number of records that will be read, or −1 if only reading to the end can tell.
func (rd *Reader) Records() int64 { return rd.records }

// Notes say what a salvage found and took. They are complete when the end was reached, and before that if Records is known.
func (rd *Reader) Notes() []string { return rd.notes }

// reshape applies Options.Reshape.
func (rd *Reader) reshape() (err error) {
	dims := rd.opts.Reshape
	if dims == nil {
		return nil
	}
	if rd.opts.Salvage && len(dims) > 0 && dims[0] == -1 {
		rd.header, err = rd.claim.reshapeRecords(dims[1:])
		return err
	}
	rd.header, err = rd.claim.Reshape(dims)
	return err
}

func (rd *Reader) checkRecord() error {
	size := rd.header.RecordSize()
	if size > rd.opts.MaxRecordSize {
		return fault.New(fault.Unsupported, "a record of %s is %d bytes, expected at most %d", rd.header, size, rd.opts.MaxRecordSize).
			At(4).WithHint("if that is right, allow it with --max-record-bytes %d; memory grows with it", size)
	}
	if size == 0 && rd.header.Records() > MaxEmptyRecords {
		return fault.New(fault.Malformed, "%d records of no elements (%s), expected at most %d", rd.header.Records(), rd.header, MaxEmptyRecords).
			At(4).WithHint(adviceNoBytes)
	}
	if tooLong := func(d int64) bool { return int64(int(d)) != d }; slices.ContainsFunc(rd.header.Dims[1:], tooLong) {
		return fault.New(fault.Malformed, "a record of %s has a dimension of more than %d", rd.header, math.MaxInt).At(4).WithHint(adviceNoBytes)
	}
	return nil
}

// checkSize compares what the header claims with the size of the input.
func (rd *Reader) checkSize() error {
	h := rd.header
	want, found := rd.claim.Size()+h.PayloadSize(), rd.opts.Size
	switch {
	case found == want:
		return nil
	case found < want:
		return rd.truncated(found)
	}
	return rd.trailing(found - want)
}

// countsBytes reports whether the first dimension is the payload's size in bytes: with payload bytes present, whole records of more than one byte.
func countsBytes(h Header, payload int64) bool {
	size := h.RecordSize()
	return size > 1 && payload > 0 && h.Records() == payload && payload%size == 0
}

// truncated is the error for an input that ends after found bytes.
func (rd *Reader) truncated(found int64) error {
	h := rd.header
	if err := rd.claim.checkOrder(found); err != nil {
		return err
	}
	if countsBytes(h, found-rd.claim.Size()) {
		return fault.New(fault.Malformed, "the first dimension counts bytes, not records: found %d for %d records of %d bytes",
			h.Records(), h.Records()/h.RecordSize(), h.RecordSize()).
			At(4).WithHint("some writers do this (Datumaro among them); read the file with --salvage")
	}
	e := fault.New(fault.Truncated, "truncated: found %d bytes, expected %d for %s (%d whole records)",
		found, rd.claim.Size()+h.PayloadSize(), h, (found-rd.claim.Size())/max(1, h.RecordSize())).At(found)
	if h.Records() == UnfilledCount {
		return e.WithHint(adviceUnfilled)
	}
	return e.WithHint(adviceDownload + ", or take the whole records that are there with --salvage")
}

// trailing is the error for an input with more bytes than the header says; extra is how many, or 0 if that is not known.
func (rd *Reader) trailing(extra int64) error {
	h := rd.header
	end := rd.claim.Size() + h.PayloadSize()
	found := "more data"
	if extra > 0 {
		if err := rd.claim.checkOrder(end + extra); err != nil {
			return err
		}
		found = fmt.Sprintf("trailing bytes (%d)", extra)
	}
	e := fault.New(fault.Malformed, "found %s after the %d bytes of %s, expected the end", found, end, h).At(end)
	if h.Records() == 0 {
		return e.WithHint(adviceUnfilled)
	}
	return e.WithHint("the file is damaged, or the header's counts are wrong; take the records of the header with --salvage")
}

// salvageCount decides how many records a salvage takes, where the size is known, and notes what it found.
func (rd *Reader) salvageCount() {
	h := rd.header
	size := h.RecordSize()
	unfilled := h.Records() == 0 || h.Records() == UnfilledCount
	if rd.opts.Size == 0 {
		if size > 0 {
			rd.records = -1
		}
		return
	}
	payload := max(0, rd.opts.Size-rd.claim.Size())
	if size == 0 || payload == h.PayloadSize() {
		return
	}
	whole := payload / size
	if !unfilled {
		whole = min(whole, h.Records())
	}
	rd.records = whole
	rd.noteSalvage(payload)
}

// noteSalvage tells what differs between the header's claim and the payload bytes that were found.
func (rd *Reader) noteSalvage(payload int64) {
	h := rd.header
	reason := fmt.Sprintf("truncated: %d of %d bytes", payload, h.PayloadSize())
	switch {
	case countsBytes(h, payload):
		reason = "the first dimension counts bytes, not records"
	case h.Records() == 0 || h.Records() == UnfilledCount:
		reason = "the number of records was never filled in"
	case payload > h.PayloadSize():
		reason = "trailing bytes after the records"
	}
	rd.notes = append(rd.notes, fmt.Sprintf("salvaged %d whole records of %s (%s)", rd.records, h, reason))
}

// limit is the index after the last record to be read; it is not a promise while the number of records is unknown.
func (rd *Reader) limit() int64 {
	if rd.records >= 0 {
		return rd.records
	}
	if n := rd.header.Records(); n > 0 && n != UnfilledCount {
		return n
	}
	return math.MaxInt64
}

// ReadRecords fills p with up to most whole records and returns their number. p must hold most records. Fewer come back only at the end; the end
// itself, checked, is (0, io.EOF). After an error the records that were read before it have been returned.
func (rd *Reader) ReadRecords(p []byte, most int) (int, error) {
	if rd.err != nil {
		return 0, rd.err
	}
	n := int(min(int64(most), rd.limit()-rd.next))
	if n == 0 {
		rd.err = rd.finish()
		return 0, rd.err
	}
	size := int(rd.header.RecordSize())
	got, err := io.ReadFull(rd.r, p[:n*size])
	if err == nil {
		rd.next += int64(n)
		return n, nil
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF { // compared as they are: an error that wraps io.EOF is a failure
		rd.err = err
		return 0, err
	}
	return rd.ended(got)
}

// ended handles an input that ended early, got bytes into the record rd.next.
func (rd *Reader) ended(got int) (int, error) {
	size := rd.header.RecordSize()
	found := rd.claim.Size() + rd.next*size + int64(got)
	if !rd.opts.Salvage || rd.records >= 0 {
		rd.err = rd.truncated(found)
		return 0, rd.err
	}
	whole := int(int64(got) / size)
	rd.next += int64(whole)
	rd.records, rd.err = rd.next, io.EOF
	if payload := found - rd.claim.Size(); payload != rd.header.PayloadSize() {
		rd.noteSalvage(payload)
	}
	if whole == 0 {
		return 0, io.EOF
	}
	return whole, nil
}

// finish demands the end of the input; a salvage notes that there is more.
func (rd *Reader) finish() error {
	var one [1]byte
	if _, err := io.ReadFull(rd.r, one[:]); err == io.EOF {
		rd.records = rd.next
		return io.EOF
	} else if err != nil {
		return err
	}
	if !rd.opts.Salvage {
		return rd.trailing(0)
	}
	rd.records = rd.next
	if len(rd.notes) == 0 {
		rd.noteSalvage(rd.next*rd.header.RecordSize() + 1)
	}
	return io.EOF
}

// seeks reports whether the input has the size that the header asks for: a seek past the end would hide that records are missing.
func (rd *Reader) seeks() bool {
	return rd.opts.Size > 0 || rd.opts.ClaimedSize > 0 && rd.opts.ClaimedSize == rd.claim.Size()+rd.header.PayloadSize()
}

// Skip passes over the next n records. It seeks if the input can and its size was checked, and otherwise reads.
func (rd *Reader) Skip(n int64) error {
	size := rd.header.RecordSize()
	if left := min(rd.limit()-rd.next, math.MaxInt64/max(1, size)); n < 0 || n > left {
		return fmt.Errorf("skip %d records, expected 0 to %d", n, left)
	}
	bytes := n * size
	if s, ok := rd.r.(io.Seeker); ok && rd.seeks() {
		if _, err := s.Seek(bytes, io.SeekCurrent); err == nil {
			rd.next += n
			return nil
		} // a pipe is an *os.File too, but cannot seek: read
	}
	skipped, err := io.CopyN(io.Discard, rd.r, bytes)
	if err == io.EOF {
		err = rd.truncated(rd.claim.Size() + rd.next*size + skipped)
	}
	rd.next, rd.err = rd.next+n, err
	return err
}
