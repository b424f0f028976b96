package idx

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

const (
	// DefaultMaxRecordSize is the size in bytes of the largest record that is accepted by default:
	// 6 MiB, an image of 1920×1080 pixels with three channels.
	DefaultMaxRecordSize = 6 << 20
	// MaxEmptyRecords is the largest accepted number of records without elements. They take no
	// bytes, so a header of 16 bytes could ask for billions of them.
	MaxEmptyRecords = 1 << 20
)

// Options say how to read a file. The zero value reads complete data of unknown size.
type Options struct {
	// Size is the number of bytes of the input, with the header; 0 if it is not known in advance.
	Size int64
	// MaxRecordSize is the size of the largest accepted record in bytes; 0: DefaultMaxRecordSize.
	MaxRecordSize int64
	// Shape is that of a record, in which elements stay in C order; nil: that of the header.
	Shape []int
	// Salvage reads the complete records of a file that is truncated, has trailing bytes, counts
	// bytes in its first dimension, or whose number of records was never filled in.
	Salvage bool
	// Checked means that the input has checksums, as compressed files have. If there is more data
	// than the header says, up to 64 MiB of it are read, to find out whether it is damaged.
	Checked bool
}

// A Reader reads the records of an IDX file from start to end, in the byte order of the file.
type Reader struct {
	r       io.Reader
	stored  Header // the header of the file
	header  Header // stored, reshaped if that was asked for
	opts    Options
	records int64 // number of records that will be read; −1: unknown until the end
	next    int64 // index of the next record
	err     error // why reading ended; io.EOF if the end was reached and checked
	notes   []string
}

// NewReader reads the header and checks it against the limit for records and, if it is known,
// against the size of the input. It allocates nothing for the payload.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	o.MaxRecordSize = cmp.Or(o.MaxRecordSize, DefaultMaxRecordSize)
	h, err := ReadHeader(r)
	if err != nil {
		return nil, err
	}
	rd := &Reader{r: r, stored: h, header: h, opts: o}
	if o.Shape != nil {
		rd.header, err = h.Reshape(o.Shape)
		if err != nil && o.Salvage { // the header's count may be wrong
			err = fault.New(fault.Usage, "").Because(err).
				WithHint("salvage the file first, with -o SAVED.idx, and reshape that")
		}
		if err != nil {
			return nil, err
		}
	}
	rd.records = rd.header.Records()
	// The size is checked before the limit for records: a wrong size tells the user more.
	switch mustFit := o.Size > 0 && !o.Salvage; {
	case mustFit && o.Size < rd.end():
		return nil, rd.truncated(o.Size)
	case mustFit && o.Size > rd.end():
		return nil, rd.trailing(o.Size - rd.end())
	}
	if err := rd.checkRecord(); err != nil {
		return nil, err
	}
	if o.Salvage {
		rd.salvageCount()
	}
	return rd, nil
}

// Stored returns the header of the file, without the reshaping.
func (rd *Reader) Stored() Header { return rd.stored }

// Header returns the header of the data as it is read: that of the file, reshaped if that was asked
// for. In a salvage, its first dimension may differ from Records.
func (rd *Reader) Header() Header { return rd.header }

// Records returns the number of records that will be read, or −1 if it is unknown before the end.
func (rd *Reader) Records() int64 { return rd.records }

// Notes returns what a salvage found and kept, complete at the end, or at once if Records is known.
func (rd *Reader) Notes() []string { return rd.notes }

func (rd *Reader) checkRecord() error {
	size := rd.header.RecordSize()
	if size > rd.opts.MaxRecordSize {
		return fault.New(fault.Unsupported, "a record of %s has %d bytes, expected at most %d",
			rd.header.record(), size, rd.opts.MaxRecordSize).
			At(4).WithHint("if that is right, allow it with --max-record-bytes %d, which needs more memory", size)
	}
	if size == 0 && rd.header.Records() > MaxEmptyRecords {
		return fault.New(fault.Malformed, "found %d records with no elements (%s), expected at most %d",
			rd.header.Records(), rd.header, MaxEmptyRecords).At(4).WithHint(hintNoBytes)
	}
	if slices.ContainsFunc(rd.header.Dims[1:], func(d int64) bool { return int64(int(d)) != d }) {
		return fault.New(fault.Malformed, "a record of %s has a dimension of more than %d", rd.header.record(),
			math.MaxInt).At(4).WithHint(hintNoBytes)
	}
	return nil
}

// end returns the size that the header implies for the whole input.
func (rd *Reader) end() int64 { return rd.stored.Size() + rd.header.PayloadSize() }

// countsBytes reports whether the first dimension of h is the size of the payload in bytes: the
// payload has that size, and it consists of whole records of more than one byte.
func countsBytes(h Header, payload int64) bool {
	size := h.RecordSize()
	return size > 1 && payload > 0 && h.Records() == payload && payload%size == 0
}

// truncated returns the error for an input that ends after found bytes.
func (rd *Reader) truncated(found int64) error {
	h := rd.header
	if countsBytes(h, found-rd.stored.Size()) {
		return fault.New(fault.Malformed,
			"the first dimension counts bytes, not records: found %d for %d records of %d bytes",
			h.Records(), h.Records()/h.RecordSize(), h.RecordSize()).
			At(4).WithHint("some writers do this (such as Datumaro); read the file with --salvage")
	}
	complete := (found - rd.stored.Size()) / max(1, h.RecordSize())
	e := fault.New(fault.Truncated, "truncated: found %d bytes, expected %d for %s (%s)",
		found, rd.end(), h, text.Count(complete, "complete record")).At(found)
	switch {
	case complete == 0:
		return e.WithHint(hintDownload)
	case h.Records() == unfilledCount:
		return e.WithHint(hintUnfilled)
	}
	return e.WithHint(hintDownload + HintSalvage)
}

// trailing returns the error for extra bytes, 0 if their number is unknown, after the end.
func (rd *Reader) trailing(extra int64) error {
	h, end, found := rd.header, rd.end(), "extra data"
	if extra > 0 {
		found = text.Count(extra, "extra byte")
	}
	e := fault.New(fault.Malformed, "found %s after the end: the header says %d bytes, for %s", found, end, h).At(end)
	if h.RecordSize() == 0 {
		return e.WithHint(hintNoBytes)
	} else if h.Records() == 0 {
		return e.WithHint(hintUnfilled)
	}
	return e.WithHint("if it was transferred as text, transfer it again as binary, for all values may be wrong; " +
		"if the header's counts are wrong, --salvage reads as many records as it says")
}

// salvageCount decides how many records to salvage if the input's size is known, and adds a note.
func (rd *Reader) salvageCount() {
	size, payload := rd.header.RecordSize(), max(0, rd.opts.Size-rd.stored.Size())
	if size == 0 || payload == rd.header.PayloadSize() && rd.opts.Size > 0 {
		return
	}
	rd.records = -1
	if rd.opts.Size > 0 {
		rd.records = min(payload/size, rd.limit())
		rd.noteSalvage(payload)
	}
}

// noteSalvage notes how the payload bytes that were found differ from what the header says.
func (rd *Reader) noteSalvage(payload int64) {
	h := rd.header
	reason := fmt.Sprintf("truncated: only %d of %d bytes", payload, h.PayloadSize())
	switch {
	case countsBytes(h, payload):
		reason = "the first dimension counts bytes, not records"
	case h.Records() == 0 || h.Records() == unfilledCount:
		reason = "the number of records was never filled in"
	case payload > h.PayloadSize():
		reason = "extra data after the records"
	}
	rd.notes = append(rd.notes, fmt.Sprintf("salvaged %s of %s (%s)",
		text.Count(rd.records, "complete record"), h.record(), reason))
}

// limit returns the index after the last record to read; there may be fewer if Records is unknown.
func (rd *Reader) limit() int64 {
	if rd.records >= 0 {
		return rd.records
	}
	if n := rd.header.Records(); n > 0 && n != unfilledCount {
		return n
	}
	return math.MaxInt64
}

// All iterates over the records that are left, in the byte order of the file, each of
// [Header.RecordSize] bytes and valid until the next. An error ends the iteration; without one, the
// end was reached and checked. Let the Reader read from a [bufio.Reader] if records are small.
func (rd *Reader) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		record := make([]byte, rd.header.RecordSize())
		_, err := rd.ReadRecords(record, 1)
		for err == nil && yield(record, nil) {
			_, err = rd.ReadRecords(record, 1)
		}
		if err != nil && err != io.EOF {
			yield(nil, err)
		}
	}
}

// ReadRecords reads up to limit complete records into p, which must have room for them, and returns
// their number. There are fewer only at the end of the input. When the end has been reached and
// checked, it returns 0 and io.EOF. An error comes after the records of earlier calls; if the input
// ends too early, the complete records that the failed call read are lost, except with Salvage.
func (rd *Reader) ReadRecords(p []byte, limit int) (int, error) {
	if rd.err != nil {
		return 0, rd.err
	}
	n := int(min(int64(limit), rd.limit()-rd.next))
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
	if err != io.EOF && err != io.ErrUnexpectedEOF { // not errors.Is: an error that wraps io.EOF is a failure
		rd.err = err
		return 0, err
	}
	return rd.ended(got)
}

// ended handles an input that ended early, after got bytes from the start of record rd.next.
func (rd *Reader) ended(got int) (int, error) {
	size := rd.header.RecordSize()
	found := rd.stored.Size() + rd.next*size + int64(got)
	if !rd.opts.Salvage || rd.records >= 0 {
		rd.err = rd.truncated(found)
		return 0, rd.err
	}
	whole := int64(got) / size
	rd.next += whole
	rd.records, rd.err = rd.next, io.EOF
	if payload := found - rd.stored.Size(); payload != rd.header.PayloadSize() {
		rd.noteSalvage(payload)
	}
	if whole == 0 {
		return 0, io.EOF
	}
	return int(whole), nil
}

// finish requires the input to end here; a salvage notes that it does not.
func (rd *Reader) finish() error {
	most := int64(1)
	if rd.opts.Checked {
		most = 64 << 20 // see Options
	}
	extra, err := io.CopyN(io.Discard, rd.r, most)
	if err != nil && err != io.EOF {
		return err
	}
	rd.records = rd.next
	if extra > 0 && (!rd.opts.Salvage || rd.header.RecordSize() == 0) {
		return rd.trailing(0)
	}
	if extra > 0 && len(rd.notes) == 0 {
		rd.noteSalvage(rd.next*rd.header.RecordSize() + 1)
	}
	return io.EOF
}

// Skip skips the next n records. It seeks if the input can and its size was checked, and reads
// otherwise: a seek beyond the end would hide that records are missing.
func (rd *Reader) Skip(n int64) error {
	size := rd.header.RecordSize()
	if left := min(rd.limit()-rd.next, math.MaxInt64/max(1, size)); n < 0 || n > left {
		return fmt.Errorf("skip %d records, expected 0 to %d", n, left)
	}
	if s, ok := rd.r.(io.Seeker); ok && rd.opts.Size > 0 {
		if _, err := s.Seek(n*size, io.SeekCurrent); err == nil {
			rd.next += n
			return nil
		} // a pipe is an *os.File too, but cannot seek: it is read
	}
	skipped, err := io.CopyN(io.Discard, rd.r, n*size)
	if err == io.EOF {
		err = rd.truncated(rd.stored.Size() + rd.next*size + skipped)
	}
	rd.next, rd.err = rd.next+n, err
	return err
}
