package compressed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/idxport/idxport/fault"
)

func TestCloseInTheMiddleEndsTheGoroutine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"long.gz", "long.zst", "long.xz", "long.bz2"} {
		for _, size := range []int{0, 1, bufferSize, 2*bufferSize + 1} {
			r, err := NewReader(bytes.NewReader(testFile(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(r, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			r.Close()
			select {
			case <-r.ahead.done:
			default:
				t.Errorf("%s, closed after %d bytes: the goroutine still runs", name, size)
			}
			if _, err := r.Read(make([]byte, 1)); err != fs.ErrClosed {
				t.Errorf("%s, read after Close: found %v, expected fs.ErrClosed", name, err)
			}
			r.Close() // a second time
		}
	}
}

// A pipe that delivers nothing more blocks the goroutine inside its Read.
func TestCloseDoesNotWaitForABlockedPipe(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	go out.Write(testFile(t, "long.gz")[:1000])
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	for r.in.taken.Load() < 1000 || !r.in.isReading() {
		time.Sleep(time.Millisecond)
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, r)
		read <- err
	}()
	closed := make(chan struct{})
	go func() { r.Close(); close(closed) }()
	for _, event := range []func() bool{
		func() bool { <-closed; return true },
		func() bool { return errors.Is(<-read, fs.ErrClosed) },
		func() bool { in.Close(); <-r.ahead.done; return true },
	} {
		done := make(chan bool, 1)
		go func() { done <- event() }()
		select {
		case ok := <-done:
			if !ok {
				t.Error("the waiting Read did not return fs.ErrClosed")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("Close, the waiting Read or the goroutine hangs")
		}
	}
}

func TestErrorsOfTheInputKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.plain", "long.gz", "long.zst", "long.xz", "long.bz2"} {
		raw := testFile(t, name)
		for _, failure := range []error{
			&fs.PathError{Op: "read", Path: "x.gz", Err: syscall.EIO},
			io.ErrUnexpectedEOF, // as a HTTP body may return
		} {
			for _, at := range []int{0, 3, 100, len(raw)} {
				r, err := NewReader(io.MultiReader(bytes.NewReader(raw[:at]), iotest.ErrReader(failure)))
				if err == nil {
					_, err = io.Copy(io.Discard, r)
					r.Close()
				}
				if err != failure {
					t.Errorf("%s failing at %d: found %v, expected %v", name, at, err, failure)
				}
			}
		}
	}
}

func TestInputWithoutProgress(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.plain", "small.gz"} {
		stuck := readerFunc(func([]byte) (int, error) { return 0, nil })
		r, err := NewReader(io.MultiReader(bytes.NewReader(testFile(t, name)[:50]), stuck))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != io.ErrNoProgress {
			t.Errorf("%s: found %v, expected io.ErrNoProgress", name, err)
		}
		r.Close()
	}
}

// A decoder's panic is the data's fault, the input's is not.
func TestPanics(t *testing.T) {
	t.Parallel()
	boom := readerFunc(func([]byte) (int, error) { panic("boom") })
	d := newDecoding(decoder{format: XZ, name: "xz", open: openPanicking}, &input{r: strings.NewReader("12345678")})
	p := make([]byte, 10)
	if n, err := d.fill(p); n != 3 || !errors.Is(err, fault.Malformed) {
		t.Errorf("decoder: found %d bytes and %v, expected 3 and malformed data", n, err)
	}
	r, err := NewReader(io.MultiReader(bytes.NewReader(testFile(t, "small.gz")[:50]), boom))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err == nil || errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("input: found %v, expected the panic, not called corrupt", err)
	}
}

func openPanicking(*bufio.Reader, func() bool) (io.Reader, error) {
	reads := 0
	return readerFunc(func(p []byte) (int, error) {
		if reads++; reads == 2 {
			panic("index out of range")
		}
		return copy(p, "abc"), nil
	}), nil
}
