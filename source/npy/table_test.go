package npy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// readAll reads the rest of the only column.
func readAll(t source.Table, limit int) ([]byte, error) {
	data, err := sourcetest.ReadAll(t, limit)
	if err != nil {
		return nil, err
	}
	return data[0], nil
}

// TestNumPy reads what NumPy wrote: see testdata/make.py.
func TestNumPy(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("testdata/expected.json"))(t)
	var files map[string]struct {
		DType  string
		Shape  []int
		SHA256 string
	}
	if err := json.Unmarshal(text, &files); err != nil || len(files) < 20 {
		t.Fatal(err, len(files))
	}
	for name, want := range files {
		path := filepath.Join("testdata", name+".npy")
		raw := must.Get(os.ReadFile(path))(t)
		for _, limit := range []int{1, 3, 1000} {
			for way, open := range map[string]func() (source.Table, error){
				"file": func() (source.Table, error) { return Open(path, source.ReadOptions{Name: "x"}) },
				"pipe": func() (source.Table, error) {
					return newTable(bytes.NewBuffer(raw), name+".npy", source.ReadOptions{Name: "x"})
				},
			} {
				table := must.Get(open())(t)
				c := table.Columns()[0]
				if c.Name != "x" || c.Origin != name+".npy" || c.DType.String() != want.DType || !slices.Equal(c.Shape, want.Shape[1:]) || table.Rows() != int64(want.Shape[0]) {
					t.Errorf("%s, %s: found %+v, %d rows, expected %+v", name, way, c, table.Rows(), want)
				}
				data, err := readAll(table, limit)
				if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != want.SHA256 {
					t.Errorf("%s, %s: found other values (%d bytes), error %v", name, way, len(data), err)
				}
				if wide := strings.HasPrefix(name, "wide-"); wide != (len(source.About(table).Notes) > 0) {
					t.Errorf("%s: found the notes %q", name, source.About(table).Notes)
				}
				must.Do(t, table.Close())
			}
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want error
		text string
	}{
		"single.npy":            {fault.Unsupported, "single number"},
		"text.npy":              {fault.Unsupported, `"<U2"`},
		"fields.npy":            {fault.Unsupported, "several fields"},
		"object.npy":            {fault.Unsupported, "pickled"},
		"complex.npy":           {fault.Unsupported, `"<c8"`},
		"archive.npz":           {fault.Unsupported, "zip"},
		"too-large.npy":         {fault.Malformed, "row 2, at byte 144: found 2147483648"},
		"fortran-too-large.npy": {fault.Malformed, "row 0: found 1099511627776"},
	}
	for name, test := range tests {
		table, err := Open(filepath.Join("testdata", name), source.ReadOptions{})
		if err == nil {
			_, err = readAll(table, 3)
		}
		hint := fault.HintOf(err)
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || hint == "" || strings.Contains(hint, "--dtype") { // which arrays have no use for
			t.Errorf("%s: found %v, expected %v with a hint: %s", name, err, test.want, test.text)
		}
	}
	narrow, err := Open("testdata/wide-little-i8.npy", source.ReadOptions{DType: idx.Uint8})
	if err != nil || narrow.Columns()[0].DType != idx.Uint8 || len(source.About(narrow).Notes) > 0 {
		t.Errorf("found %v, error %v, expected uint8 as asked for", narrow, err)
	} else if data, err := readAll(narrow, 100); err != nil || data[1] != 42 {
		t.Errorf("found % x, error %v", data, err)
	}
}

// TestSkip skips rows of a file, and of an input that can be read only once.
func TestSkip(t *testing.T) {
	t.Parallel()
	file := array("<i2", "(5, 1)", 0)
	file = append(file, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	path := filepath.Join(t.TempDir(), "a.npy")
	must.Do(t, os.WriteFile(path, file, 0o600))
	for skip := range 6 {
		fromFile := must.Get(Open(path, source.ReadOptions{}))(t)
		fromPipe := must.Get(newTable(bytes.NewBuffer(file), "-", source.ReadOptions{}))(t)
		for _, table := range []source.Table{fromFile, fromPipe} {
			must.Do(t, source.Skip(table, int64(skip)))
			if got, err := readAll(table, 2); err != nil || !bytes.Equal(got, file[len(file)-2*(5-skip):]) {
				t.Errorf("skip %d: found % x, error %v", skip, got, err)
			}
		}
		must.Do(t, fromFile.Close())
	}
}

// TestDamage cuts a file at every byte, and appends one.
func TestDamage(t *testing.T) {
	t.Parallel()
	whole := must.Get(os.ReadFile("testdata/little-i2.npy"))(t)
	path := filepath.Join(t.TempDir(), "a.npy")
	must.Do(t, os.WriteFile(path, append(whole, 0), 0o600))
	for n := len(whole) + 1; n >= 0; n-- {
		want := fault.Truncated
		if n > len(whole) {
			want = fault.Malformed
		} else if n == len(whole) {
			continue
		}
		must.Do(t, os.Truncate(path, int64(n)))
		if _, err := Open(path, source.ReadOptions{}); !errors.Is(err, want) {
			t.Errorf("%d bytes: found %v, expected %v", n, err, want)
		}
		in := append(whole, 0)[:n]
		table, err := newTable(bytes.NewReader(in), "-", source.ReadOptions{})
		if err == nil {
			_, err = readAll(table, 2)
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes from a pipe: found %v, expected %v", n, err, want)
		}
		if table, err := newTable(bytes.NewReader(in), "-", source.ReadOptions{}); err == nil && n < len(whole) {
			if err := source.Skip(table, table.Rows()); !strings.Contains(fmt.Sprint(err), fmt.Sprintf("at byte %d:", n)) {
				t.Errorf("found the error %v, expected one at byte %d", err, n)
			}
		}
	}
}

func TestHeaderText(t *testing.T) {
	t.Parallel()
	good := []string{
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }   \n",
		`{"shape": ( 3L , ) ,"fortran_order":True,"descr":"|u1"}`,
	}
	for _, text := range good {
		if d, err := parseText(text, 0); err != nil || d.descr != "|u1" || !slices.Equal(d.shape, []int64{3}) {
			t.Errorf("%s: found %+v, error %v", text, d, err)
		}
	}
	bad := map[string]int64{ // where it is wrong: at its start, in an entry, or at its end
		"": 0, "{": 1, "[]": 0,
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3), }":                     41,
		"{'descr': '|u1', 'fortran_order': False, 'shape': (-3,), }":                   41,
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), 'x': 1}":              56,
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), 'x': True}":           65,
		"{'descr': '|u1', 'descr': '|u1', 'shape': (3,), }":                            17,
		"{'descr': '|u1', 'fortran_order': 0, 'shape': (3,), }":                        17,
		"{'descr': '|u1', 'fortran_order': (3,), 'shape': False}":                      54,
		"{'descr': '|u1', 'shape': (3,)}":                                              30,
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), } x":                  56,
		"{'descr': '\\x7cu1', 'fortran_order': False, 'shape': (3,), }":                1,
		"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }": 75,
	}
	for text, offset := range bad {
		_, err := parseText(text, 100)
		var e *fault.Error
		if !errors.As(err, &e) || e.Offset != 100+offset || e.Kind != fault.Malformed {
			t.Errorf("%s: found %v, expected damage at byte %d", text, err, 100+offset)
		}
	}
}

// Whatever is read, nothing panics, no memory is allocated because of the header alone, and the
// values are those of the input.
func FuzzRead(f *testing.F) {
	names := must.Get(filepath.Glob("testdata/*.np[yz]"))(f)
	for _, name := range names {
		raw := must.Get(os.ReadFile(name))(f)
		if len(raw) < 1<<10 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		table, err := newTable(bytes.NewReader(in), "-", source.ReadOptions{MaxRecordSize: 1 << 12})
		var data []byte
		if err == nil {
			data, err = readAll(table, 3)
		}
		if err == nil {
			c := table.Columns()[0]
			if int64(len(data)) != table.Rows()*int64(c.RecordSize()) {
				t.Fatalf("found %d bytes, expected %d rows of %d", len(data), table.Rows(), c.RecordSize())
			}
			return
		}
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind == 0 || e.Msg == "" || e.Offset < 0 && e.Row < 0 || e.Offset > int64(len(in)) {
			t.Fatalf("found %v, expected an offset inside the %d bytes", err, len(in))
		}
	})
}

// array returns a .npy file of version 1.0: the magic number, the version, the length of the
// header, the header, the elements.
func array(descr, shape string, elements int) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	return append(append(file, text...), make([]byte, elements)...)
}

var errBroken = errors.New("the pipe is broken")

// TestEveryReadMayFail: a failure at any byte is another error than the end of the input.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	file := array("<i2", "(3, 2)", 12)
	for n := range len(file) + 1 {
		for skip := range int64(4) {
			table, err := newTable(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errBroken)), "-", source.ReadOptions{})
			if err == nil {
				err = source.Skip(table, skip)
			}
			b := &source.Raw{Cap: 2}
			for err == nil {
				err = table.Read(t.Context(), b)
			}
			if !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
				t.Errorf("%d bytes, from row %d on: found %v, expected %v", n, skip, err, errBroken)
			}
		}
	}
}

// TestExcessiveHeaders: headers that promise too much are refused before memory is allocated for
// it.
func TestExcessiveHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file []byte
		kind fault.Kind
		want string
	}{
		"version 4":             {[]byte("\x93NUMPY\x04\x00\x00\x00"), fault.Unsupported, "version 4.0"},
		"header of 4 GiB":       {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), fault.Malformed, "4294967295 bytes"},
		"version 2 cut":         {[]byte("\x93NUMPY\x02\x00\xff\xff\xff"), fault.Truncated, "inside the header"},
		"no type":               {array("", "(3,)", 3), fault.Unsupported, `the type ""`},
		"order of 2 bytes":      {array("|i2", "(3,)", 6), fault.Unsupported, "byte order"},
		"256 dimensions":        {array("|u1", "("+strings.Repeat("1,", 256)+")", 1), fault.Unsupported, "256 dimensions, expected at most 255"},
		"rows of 2⁶⁷ bytes":     {array("<f8", "(1, 4294967295, 4294967295)", 0), fault.Malformed, "more than 2^62 bytes"},
		"2³² rows of 2³⁴ bytes": {array("<f8", "(4294967295, 2147483648)", 0), fault.Malformed, "more than 2^62 bytes"},
		"rows of 16 MiB + 1":    {array("|u1", "(1, 16777217)", 0), fault.Unsupported, "a record has 16777217 bytes, expected at most 16777216"},
		"2²⁰ + 1 empty rows":    {array("|u1", "(1048577, 0)", 0), fault.Malformed, "1048577 records without elements"},
		"short and no .npy":     {[]byte("\x1f\x8b"), fault.Unsupported, "1f 8b"},
		"text without an end":   {array("u1\\", "(3,)", 3), fault.Malformed, "at byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := newTable(bytes.NewReader(c.file), "-", source.ReadOptions{}); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %v: %s", err, c.kind, c.want)
			}
		})
	}
}

// TestUseAfterTheEnd cancels, skips rows that do not exist, and reads after Close.
func TestUseAfterTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.npy")
	must.Do(t, os.WriteFile(path, array("|u1", "(5, 2)", 10), 0o666))
	table := must.Get(Open(path, source.ReadOptions{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &source.Raw{Cap: 2}
	if err := table.Read(ctx, b); !errors.Is(err, context.Canceled) || b.Rows != 0 {
		t.Errorf("cancelled: found %d rows and %v", b.Rows, err)
	}
	for _, n := range []int64{-1, 6} {
		if err := source.Skip(table, n); !errors.Is(err, fault.Usage) {
			t.Errorf("%d of 5 rows: found %v, expected %v", n, err, fault.Usage)
		}
	}
	must.Do(t, os.Truncate(path, 0))
	if err := table.Read(t.Context(), b); !errors.Is(err, fault.Truncated) {
		t.Errorf("the file was emptied: found %v, expected %v", err, fault.Truncated)
	}
	for range 2 {
		must.Do(t, table.Close())
	}
	if err := table.Read(t.Context(), b); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: found %v, expected %v", err, fs.ErrClosed)
	}
}
