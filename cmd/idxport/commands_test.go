package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/ulikunitz/xz"
)

// exits CODE COMMAND… runs the command and demands exactly this exit code.
func exits(ts *testscript.TestScript, args []string) {
	demandCode(ts, args[0], ts.Exec(args[1], args[2:]...))
}

// demandCode compares the exit code of a process that has ended with want.
func demandCode(ts *testscript.TestScript, want string, err error) {
	got := 0
	if err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("%v", err)
		}
		got = failed.ExitCode()
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("found exit code %d, expected %s", got, want)
	}
}

// elements are the data types of IDX: the code in the header and how an element with value v is
// written, from the format's definition.
var elements = map[string]struct {
	code   byte
	append func(b []byte, v int) []byte
}{
	"uint8":   {0x08, bigEndian[uint8]},
	"int8":    {0x09, bigEndian[int8]},
	"int16":   {0x0B, bigEndian[int16]},
	"int32":   {0x0C, bigEndian[int32]},
	"float32": {0x0D, bigEndian[float32]},
	"float64": {0x0E, bigEndian[float64]},
}

func bigEndian[T uint8 | int8 | int16 | int32 | float32 | float64](b []byte, v int) []byte {
	b, _ = binary.Append(b, binary.BigEndian, T(v)) // T has a size
	return b
}

// idx FILE DTYPE SHAPE FIRST makes an IDX file whose elements count up from FIRST.
func makeIDX(ts *testscript.TestScript, args []string) {
	element, ok := elements[args[1]]
	if !ok {
		ts.Fatalf("unknown data type %s", args[1])
	}
	made, count := tensor{code: element.code}, 1
	for text := range strings.SplitSeq(args[2], "x") {
		d := number(ts, text)
		made.dims, count = append(made.dims, d), count*d
	}
	first := number(ts, args[3])
	for i := range count {
		made.payload = element.append(made.payload, first+i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), encodeIDX(made), 0o666))
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// pack FROM TO compresses a file, by the ending of its name.
func pack(ts *testscript.TestScript, args []string) {
	var packed bytes.Buffer
	var w io.WriteCloser
	var err error
	switch filepath.Ext(args[1]) {
	case ".gz":
		w = gzip.NewWriter(&packed)
	case ".zst":
		w, err = zstd.NewWriter(&packed)
	case ".xz":
		w, err = xz.NewWriter(&packed)
	default:
		ts.Fatalf("%s: expected .gz, .zst or .xz", args[1])
	}
	ts.Check(err)
	_, err = io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(errors.Join(err, w.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), packed.Bytes(), 0o666))
}

// unpack FROM TO decompresses a file, by the ending of its name.
func unpack(ts *testscript.TestScript, args []string) {
	packed := strings.NewReader(ts.ReadFile(args[0]))
	var plain io.Reader
	var err error
	switch filepath.Ext(args[0]) {
	case ".gz":
		plain, err = gzip.NewReader(packed)
	case ".zst":
		plain, err = zstd.NewReader(packed)
	default:
		ts.Fatalf("%s: expected .gz or .zst", args[0])
	}
	ts.Check(err)
	data, err := io.ReadAll(plain)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// cut FROM TO BYTES copies the first bytes of a file, all but some of them where BYTES is negative.
func cut(ts *testscript.TestScript, args []string) {
	data, n := ts.ReadFile(args[0]), number(ts, args[2])
	if n < 0 {
		n += len(data)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:n]), 0o666))
}

// holds FOLDER [NAME…] demands that the folder has exactly these files, hidden ones and those in
// its subfolders included, and nothing else. Subfolders need not be named unless they are empty.
func holds(ts *testscript.TestScript, args []string) {
	dir := ts.MkAbs(args[0])
	var found []string
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir || strings.HasSuffix(path, ".made") { // the record of an output
			return err
		}
		name, _ := filepath.Rel(dir, path) // path begins with dir
		if e.IsDir() {
			if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
				return err
			}
		}
		found = append(found, filepath.ToSlash(name))
		return nil
	}))
	want := slices.Sorted(slices.Values(args[1:]))
	slices.Sort(found)
	if !slices.Equal(found, want) {
		ts.Fatalf("%s holds %q, expected %q", args[0], found, want)
	}
}

// glob PATTERN COUNT demands so many files that match.
func glob(ts *testscript.TestScript, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != number(ts, args[1]) {
		ts.Fatalf("%s: found %q, expected %s", args[0], found, args[1])
	}
}

// join PATTERN TO joins CSV files, in the order of their names, under the header of the first.
func join(ts *testscript.TestScript, args []string) {
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	slices.Sort(files)
	var joined []byte
	for i, file := range files {
		text, err := os.ReadFile(file)
		ts.Check(err)
		if i > 0 {
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		joined = append(joined, text...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), joined, 0o666))
}

// size FILE BYTES demands that a file has so many bytes.
func size(ts *testscript.TestScript, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Size() != int64(number(ts, args[1])) {
		ts.Fatalf("%s has %d bytes, expected %s", args[0], info.Size(), args[1])
	}
}

// hostile COMMAND… runs the command, with INPUT replaced by each input of the manifest of hostile
// files in turn, and demands the exit code and the words that stand there. A refusal is one line
// and a hint.
func hostile(ts *testscript.TestScript, args []string) {
	folder := ts.Getenv("HOSTILE")
	for line := range strings.Lines(ts.ReadFile(filepath.Join(folder, "MANIFEST.tsv"))) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		input, code, words := fields[0], fields[1], fields[2]
		command := slices.Clone(args)
		for i, arg := range command {
			command[i] = strings.ReplaceAll(arg, "INPUT", filepath.Join(folder, input))
		}
		demandCode(ts, code, ts.Exec(command[0], command[1:]...))
		stderr := ts.ReadFile("stderr")
		if !regexp.MustCompile("(?i)" + words).MatchString(stderr) {
			ts.Fatalf("%s: found %q, expected one of %s", input, stderr, words)
		}
		if !regexp.MustCompile(`\Aidxport: [^\n]+\nhint: [^\n]+\n\z`).MatchString(stderr) {
			ts.Fatalf("%s: found %q, expected one line and a hint", input, stderr)
		}
		fmt.Fprintf(ts.Stderr(), "%s: as expected\n", input)
	}
}
