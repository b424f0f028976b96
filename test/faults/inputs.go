//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	for _, c := range []change{
		{"cut to a half while it is read", half, truncate, false},
		{"cut to nothing while it is read", nil, truncate, false},
		{"longer while it is read", append(bytes.Clone(original), 1, 2, 3), writeInPlace, false},
		{"replaced by another file (rename) while it is read", inverted, renameOver, false},
		{"deleted while it is read", original, remove, false},
		{"rewritten in place while it is read", inverted, writeInPlace, true},
	} {
		r := h.row(title, c.name)
		for _, st := range []state{fresh, overwriting} {
			if err := h.changing(r, original, c, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// A change turns a file into one with other content.
type change struct {
	name    string
	content []byte
	make    func(path string, content []byte) error
	mixes   bool // in place: what was read already is of the old content
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
// was, or as it is now; where it is rewritten in place, also of one that was the first up to some
// byte and the second from there.
func (h *harness) changing(r *row, original []byte, c change, st state) error {
	home, err := os.MkdirTemp(h.tmp, "input-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	input := filepath.Join(home, "images-idx3-ubyte")
	restore := func() error { return renameOver(input, original) }
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
	mixtures := 0
	err = b.sweep(r, disturbance{
		every:   every,
		watched: home,
		before:  restore,
		do: func(t *try, _ step, since int) verdict {
			if since == 0 {
				t.err = c.make(input, c.content)
			}
			return verdict{}
		},
		judge: func(t *try) []string {
			wrong, mixed := b.judgeChanged(t, second)
			if mixed && c.mixes {
				mixtures++
				return nil
			}
			return wrong
		},
	})
	if mixtures > 0 {
		r.note = fmt.Sprintf("%d times exit 0 with a mixture, which is not promised otherwise", mixtures)
	}
	return err
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

// judgeChanged is judge for a run whose input changed, so that there are two right outputs. mixed
// is true if the only thing wrong is an output of both with exit 0.
func (b *bench) judgeChanged(t *try, second tree) (wrong []string, mixed bool) {
	got, err := readTree(t.dir)
	if err != nil {
		return []string{err.Error()}, false
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
		mixed = t.end == ending{}
		wrong = append(wrong, fmt.Sprintf("a mixture, %v", t.end))
	}
	if !t.end.isGood() {
		wrong, mixed = append(wrong, fmt.Sprintf("%v: %s", t.end, brief(t.text))), false
	}
	if left := b.leftIn(got); len(left) > 0 {
		wrong, mixed = append(wrong, fmt.Sprintf("left %v", left)), false
	}
	touched := b.touched(got)
	return append(wrong, touched...), mixed && len(touched) == 0
}
