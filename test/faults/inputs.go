//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// inputRows are so many that the input is read in a dozen pieces.
const inputRows = 15000

// changingInputs changes the input before each call of a run that concerns it.
func (h *harness) changingInputs(title string) error {
	path := filepath.Join(h.tmp, "big-images-idx3-ubyte")
	if err := writeIDX(path, noise(), inputRows, 28, 28); err != nil {
		return err
	}
	original, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const image = 28 * 28
	half := original[:16+inputRows/2*image+image/3]
	inverted := bytes.Clone(original)
	for i := 16; i < len(inverted); i++ {
		inverted[i] ^= 0xff
	}
	truncate := func(path string, content []byte) error { return os.Truncate(path, int64(len(content))) }
	remove := func(path string, _ []byte) error { return os.Remove(path) }
	rows := "x,y\n" + strings.Repeat("123456,654321\n", 200_000) // in part beyond those that are tried for their types
	swapped := strings.NewReplacer("123456", "654321", "654321", "123456").Replace(rows)
	const idx, csv = "images-idx3-ubyte", "rows.csv"
	for _, c := range []change{
		{idx, original, "cut to a half while it is read", half, truncate},
		{idx, original, "cut to nothing while it is read", nil, truncate},
		{idx, original, "longer while it is read", append(bytes.Clone(original), 1, 2, 3), writeInPlace},
		{idx, original, "replaced by another file (rename) while it is read", inverted, renameOver},
		{idx, original, "deleted while it is read", original, remove},
		{idx, original, "rewritten in place while it is read", inverted, writeInPlace},
		{csv, []byte(rows), "CSV that is rewritten in place while it is read", []byte(swapped), writeInPlace},
	} {
		r := h.row(title, c.name)
		for _, st := range []state{fresh, overwriting} {
			if err := h.changing(r, c, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// A change turns a file into one with other content.
type change struct {
	input   string
	before  []byte
	name    string
	content []byte
	make    func(path string, content []byte) error
}

func renameOver(path string, content []byte) error {
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func writeInPlace(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(content, 0)
	return err
}

// changing changes the input before each call in turn. Exit 0 promises the output of the file as it
// was, or as it is now, and never a mixture of both.
func (h *harness) changing(r *row, c change, st state) error {
	home, err := os.MkdirTemp(h.tmp, "input-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	input := filepath.Join(home, c.input)
	restore := func() error { return renameOver(input, c.before) }
	if err := restore(); err != nil {
		return err
	}
	// Arrow has the bytes as they are, in order: a mixture can be distinguished from damage.
	sc := scenario{name: "arrow " + c.name, inputs: []string{input}, flags: words("-o out.arrow"),
		targets: words("out.arrow"), rows: "0:"}
	b, err := h.prepare(sc, st)
	if err != nil {
		return err
	}
	second, err := b.outputOf(input, c.content)
	if err != nil {
		return err
	}
	every := 1
	if h.quick {
		every = 9
	}
	return b.sweep(r, disturbance{
		every:   every,
		watched: home,
		before:  restore,
		do: func(t *try, _ step, since int) verdict {
			if since == 0 {
				t.err = c.make(input, c.content)
			}
			return verdict{}
		},
		judge: func(t *try) []string { return b.judgeChanged(t, second) },
	})
}

// outputOf is the output of a run on other content; empty if it is refused.
func (b *bench) outputOf(input string, content []byte) (tree, error) {
	dir, err := os.MkdirTemp(b.tmp, "second-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := renameOver(input, content); err != nil {
		return nil, err
	}
	if end, _, err := runPlain(b.command(dir, "0:", b.flag)); err != nil || end != (ending{}) {
		return nil, err
	}
	return readTree(dir)
}

// judgeChanged is judge for a run whose input changed, so that there are two right outputs.
func (b *bench) judgeChanged(t *try, second tree) (wrong []string) {
	got, err := readTree(t.dir)
	if err != nil {
		return []string{err.Error()}
	}
	is := got.under("out.arrow")
	switch {
	case maps.Equal(is, b.after.under("out.arrow")), len(second) > 0 && maps.Equal(is, second.under("out.arrow")):
		if t.end.code != 0 {
			wrong = append(wrong, fmt.Sprintf("new, but %v", t.end))
		}
	case maps.Equal(is, b.before.under("out.arrow")):
		if t.end.code == 0 {
			wrong = append(wrong, "exit 0, but not new")
		}
	default:
		wrong = append(wrong, fmt.Sprintf("a mixture, %v", t.end))
	}
	if !t.end.isGood() {
		wrong = append(wrong, fmt.Sprintf("%v: %s", t.end, brief(t.text)))
	}
	if left := b.leftIn(got); len(left) > 0 {
		wrong = append(wrong, fmt.Sprintf("left %v", left))
	}
	return append(wrong, b.touched(got)...)
}
