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
	"testing/fstest"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// An inMemory has the file x, whatever the path.
type inMemory struct {
	source.Files
	files fstest.MapFS
}

func (m inMemory) Stat(string) (fs.FileInfo, error) { return m.files.Stat("x") }

func (m inMemory) Open(string) (source.File, error) {
	f, err := m.files.Open("x")
	return f.(source.File), err
}

// read returns options that read content, of any path.
func read(content []byte) source.ReadOptions {
	return source.ReadOptions{MaxRecordSize: 1 << 20, Files: inMemory{files: fstest.MapFS{"x": {Data: content}}}}
}

// array returns a .npy file of version 1.0: the magic number, the version, the length of the
// header, the header, the elements.
func array(descr, shape string, elements ...byte) []byte {
	return withText(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape), elements...)
}

func withText(text string, elements ...byte) []byte {
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	return append(append(file, text...), elements...)
}

// readAll reads the rest of the only column, and closes the table.
func readAll(t source.Table, limit int) ([]byte, error) {
	data, err := sourcetest.ReadAll(t, limit)
	if err := errors.Join(err, t.Close()); err != nil {
		return nil, err
	}
	return data[0], nil
}

// An expected is what NumPy wrote: see testdata/make.py.
type expected struct {
	DType  string
	Shape  []int
	SHA256 string
}

// expect demands that table has the rows of want, in batches of up to limit rows.
func (want expected) expect(t *testing.T, table source.Table, origin string, limit int) {
	t.Helper()
	c := table.Columns()[0]
	if c.Name != "x" || c.Origin != origin || c.DType.String() != want.DType ||
		!slices.Equal(append([]int{int(table.Rows())}, c.Shape...), want.Shape) {
		t.Errorf("%s: found %+v, %d rows, expected %+v", origin, c, table.Rows(), want)
	}
	data, err := readAll(table, limit)
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != want.SHA256 {
		t.Errorf("%s: found other values (%d bytes), error %v", origin, len(data), err)
	}
}

func TestNumPy(t *testing.T) {
	t.Parallel()
	var files map[string]expected
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/expected.json"))(t), &files))
	for name, want := range files {
		for _, limit := range []int{1, 3, 1000} {
			table := must.Get(Open(filepath.Join("testdata", name+".npy"), source.ReadOptions{Name: "x"}))(t)
			want.expect(t, table, name+".npy", limit)
		}
	}
	for skip := range 6 { // of 20 rows of 3 numbers, read as --dtype says
		table := must.Get(Open("testdata/wide-little-i8.npy", source.ReadOptions{DType: idx.Uint8}))(t)
		must.Do(t, source.Skip(table, int64(skip)))
		data, err := readAll(table, 7)
		if err != nil || len(data) != 60-3*skip || data[0] != byte(3*skip*37+5) {
			t.Errorf("skip %d: found % x, error %v", skip, data, err)
		}
	}
}

// TestDamage cuts a file at every byte, and appends one.
func TestDamage(t *testing.T) {
	t.Parallel()
	file := append(must.Get(os.ReadFile("testdata/little-i2.npy"))(t), 0)
	for n, kind := range append(slices.Repeat([]fault.Kind{fault.Truncated}, len(file)-1), "", fault.Malformed) {
		if _, err := Open("x", read(file[:n])); fault.KindOf(err) != kind {
			t.Errorf("%d bytes: found %v, expected %v", n, err, kind)
		}
	}
}

// TestHeaders has arrays that NumPy wrote but that are refused, and headers that are wrong, or
// promise too much, which is refused before memory is allocated for it.
func TestHeaders(t *testing.T) {
	t.Parallel()
	const unsupported, malformed = fault.Unsupported, fault.Malformed
	for name, c := range map[string]struct {
		file []byte     // of the name in testdata if it is nil
		kind fault.Kind // "" for headers that are read
		want string
	}{
		"single.npy":    {nil, unsupported, "found 0 dimensions"},
		"text.npy":      {nil, unsupported, "'<U2'"},
		"fields.npy":    {nil, unsupported, "[('a', '|u1'), ('b', '<i4')]"},
		"object.npy":    {nil, unsupported, "'|O'"},
		"complex.npy":   {nil, unsupported, "'<c8'"},
		"archive.npz":   {nil, unsupported, `found "PK`},
		"fortran.npy":   {nil, unsupported, "Fortran order, expected C order"},
		"too-large.npy": {nil, malformed, "row 2, at byte 144: found 2147483648"},

		"another order": {withText(`{"shape": ( 1 , ) ,"fortran_order":True,"descr":"|u1"}`, 1), "", ""},
		"Fortran, ones": {withText("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2, 1), }", 1, 2), "", ""},
		"Fortran, two": {withText("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 2), }"),
			unsupported, "Fortran"},

		"no end":            {withText("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), "), unsupported, ""},
		"a shape twice":     {withText("{'shape': (1,), 'fortran_order': False, 'shape': (3,)}"), unsupported, ""},
		"a negative number": {array("|u1", "(-3,)"), unsupported, "found the header"},
		"a type twice": {withText("{'descr': '|u1', 'descr': '|u1', 'shape': (3,), }"),
			unsupported, "found the header"},
		"more text":        {array("|u1", "(3,), } x"), unsupported, "found the header"},
		"no type":          {array("", "(3,)", 1, 2, 3), unsupported, "found the header"},
		"a number | of 2":  {array("|i2", "(1,)", 1, 2), unsupported, "found the header"},
		"a huge dimension": {array("|u1", "(99999999999999999999,)"), malformed, "found the shape (9999"},

		"version 1.1":           {[]byte("\x93NUMPY\x01\x01\x00\x00"), unsupported, "version 1.1"},
		"version 4":             {[]byte("\x93NUMPY\x04\x00\x00\x00\x00\x00"), unsupported, "version 4.0"},
		"header of 4 GiB":       {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), unsupported, "4294967295 bytes"},
		"version 2 cut":         {[]byte("\x93NUMPY\x02\x00\xff\xff\xff"), fault.Truncated, "found 11 bytes"},
		"a web page":            {[]byte("<!DOCTYPE html>"), unsupported, "<!DOCTYPE"},
		"256 dimensions":        {array("|u1", "("+strings.Repeat("1,", 256)+")", 1), unsupported, "256 dimensions"},
		"rows of 2⁶⁷ bytes":     {array("<f8", "(1, 4294967295, 4294967295)"), malformed, "at most 2^62 bytes"},
		"no rows of 2⁶⁷ bytes":  {array("<f8", "(0, 4294967295, 4294967295)"), malformed, "at most 2^62 bytes"},
		"2³² rows of 2³⁴ bytes": {array("<f8", "(4294967295, 2147483648)"), malformed, "at most 2^62 bytes"},
		"rows of 1 MiB + 1":     {array("|u1", "(1, 1048577)"), unsupported, "a record has 1048577 bytes"},
		"2²⁰ + 1 empty rows":    {array("|u1", "(1048577, 0)"), malformed, "1048577 records without elements"},
	} {
		if c.file == nil {
			c.file = must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		}
		table, err := Open("x", read(c.file))
		if err == nil {
			_, err = readAll(table, 3)
		}
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.want) ||
			(fault.HintOf(err) == "") != (c.kind == "") {
			t.Errorf("%s: found %v (%s), expected %v: %s", name, err, fault.HintOf(err), c.kind, c.want)
		}
	}
}

// Whatever is read, nothing panics, no memory is allocated because of the header alone, and the
// values are those of the input.
func FuzzRead(f *testing.F) {
	for _, name := range must.Get(filepath.Glob("testdata/*.np[yz]"))(f) {
		if raw := must.Get(os.ReadFile(name))(f); len(raw) < 1<<10 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		table, err := Open("x", read(in))
		var data []byte
		if err == nil {
			data, err = readAll(table, 3)
		}
		var e *fault.Error
		switch {
		case err == nil && int64(len(data)) != table.Rows()*int64(table.Columns()[0].RecordSize()):
			t.Fatalf("found %d bytes, expected %d rows", len(data), table.Rows())
		case err == nil:
		case !errors.As(err, &e) || e.Kind == "" || e.Msg == "" || e.Offset < 0 || e.Offset > int64(len(in)):
			t.Fatalf("found %v, expected an offset inside the %d bytes", err, len(in))
		}
	})
}

var errBroken = errors.New("the disk is broken")

// TestEveryReadMayFail: a failure at any byte is another error than the end of the input.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	file := array("<i2", "(3, 2)", make([]byte, 12)...)
	for n := range len(file) + 1 {
		for skip := range int64(4) {
			r := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errBroken))
			table, err := newTable(io.NopCloser(nil), "x", "", r, int64(len(file)), source.ReadOptions{})
			if err == nil {
				err = source.Skip(table, skip)
			}
			for b := (&source.Raw{Cap: 2}); err == nil; {
				err = table.Read(t.Context(), b)
			}
			if !errors.Is(err, errBroken) || fault.KindOf(err) != fault.Internal {
				t.Errorf("%d bytes, from row %d on: found %v, expected %v", n, skip, err, errBroken)
			}
		}
	}
}

// TestChanges reads a file that grows after it was opened.
func TestChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.npy")
	must.Do(t, os.WriteFile(path, array("|u1", "(2, 2)", 1, 2, 3, 4), 0o666))
	table := must.Get(Open(path, source.ReadOptions{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected %v", err, context.Canceled)
	}
	must.Do(t, os.Truncate(path, 1000))
	if _, err := readAll(table, 2); !errors.Is(err, fault.Changed) {
		t.Errorf("found %v, expected %v", err, fault.Changed)
	}
}
