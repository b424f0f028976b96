package idx

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// onlyReader hides every method but Read, so that Skip must read.
type onlyReader struct{ io.Reader }

// A noSeeker is like the *os.File of a pipe: it has a Seek method, which fails.
type noSeeker struct{ io.Reader }

func (noSeeker) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }

func TestSkip(t *testing.T) {
	t.Parallel()
	file := images(t, 10, 10)
	inputs := map[string]func() io.Reader{
		"memory":       func() io.Reader { return bytes.NewReader(file) },
		"reader":       func() io.Reader { return onlyReader{bytes.NewReader(file)} },
		"byte by byte": func() io.Reader { return iotest.OneByteReader(bytes.NewReader(file)) },
		"pipe":         func() io.Reader { return noSeeker{bytes.NewReader(file)} },
	}
	for name, open := range inputs {
		for skip := range int64(11) {
			rd, err := NewReader(open(), Options{Size: int64(len(file))})
			if err == nil {
				err = rd.Skip(skip)
			}
			if err != nil {
				t.Fatal(name, err)
			}
			data, records, err := drain(rd, 4)
			if err != nil || records != 10-int(skip) || !bytes.Equal(data, file[imagesHeader+6*skip:]) {
				t.Errorf("%s: skip %d: found %d records, %v", name, skip, records, err)
			}
		}
	}
}

func TestSkipSeeks(t *testing.T) {
	t.Parallel()
	file := bytes.NewReader(images(t, 10, 10))
	rd := must.Get(NewReader(file, Options{Size: file.Size()}))(t)
	if err := rd.Skip(7); err != nil || file.Len() != 3*6 {
		t.Errorf("found %d bytes left, %v, expected %d", file.Len(), err, 3*6)
	}
}

func TestSkipBetweenReads(t *testing.T) {
	t.Parallel()
	file := images(t, 10, 10)
	inputs := map[string]io.Reader{"seeking": bytes.NewReader(file), "reading": onlyReader{bytes.NewReader(file)}}
	for name, in := range inputs {
		rd := must.Get(NewReader(in, Options{}))(t)
		if err := rd.Skip(11); err == nil {
			t.Errorf("%s: 11 of 10 records were skipped", name)
		}
		var found []byte
		p := make([]byte, 2*6)
		for _, skip := range []int64{0, 3, 1} { // also after a skip that was refused
			must.Do(t, rd.Skip(skip))
			if n, err := rd.ReadRecords(p, 2); n != 2 || err != nil {
				t.Fatal(name, n, err)
			}
			found = append(found, p...)
		}
		at := func(first, last int) []byte { return file[imagesHeader+6*first : imagesHeader+6*last] }
		if want := slices.Concat(at(0, 2), at(5, 7), at(8, 10)); !bytes.Equal(found, want) {
			t.Errorf("%s: found % x, expected % x", name, found, want)
		}
		if err := rd.Skip(1); err == nil {
			t.Errorf("%s: a record after the last was skipped", name)
		}
		if n, err := rd.ReadRecords(p, 1); n != 0 || err != io.EOF {
			t.Errorf("%s: found %d, %v, expected the end", name, n, err)
		}
	}
}

func TestSkipErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	file := images(t, 10, 10)
	rd := must.Get(NewReader(&failing{data: file[:30], err: broken}, Options{}))(t)
	if err := rd.Skip(5); !errors.Is(err, broken) || errors.As(err, new(*fault.Error)) {
		t.Errorf("found %v, expected the reader's error", err)
	}
	rd = must.Get(NewReader(onlyReader{bytes.NewReader(file[:33])}, Options{}))(t)
	checkFault(t, rd.Skip(5), fault.Truncated, 33, "", "")
	short := images(t, 10, 4) // beyond which a seek would lead
	rd = must.Get(NewReader(bytes.NewReader(short), Options{}))(t)
	err := rd.Skip(10)
	if err == nil {
		_, _, err = drain(rd, 1)
	}
	checkFault(t, err, fault.Truncated, int64(len(short)), "", "")
}

func TestSkipEmptyRecords(t *testing.T) {
	t.Parallel()
	rd := must.Get(NewReader(bytes.NewReader([]byte{0, 0, 8, 2, 0, 0, 0, 5, 0, 0, 0, 0}), Options{}))(t)
	must.Do(t, rd.Skip(3))
	if _, records, err := drain(rd, 1); records != 2 || err != nil {
		t.Errorf("found %d records, %v, expected 2", records, err)
	}
}

func TestSkipRefuses(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1, 1 << 62, 1<<63 - 1} {
		rd := must.Get(NewReader(bytes.NewBuffer(images(t, 0, 4)), Options{Salvage: true}))(t)
		if err := rd.Skip(n); err == nil {
			t.Errorf("skipped %d of 4 records", n)
		}
	}
}
