//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// inputRows is so many that the input is read in a dozen pieces.
const inputRows = 15000

// changingInputs changes the input before each call of a run that concerns it, and puts other
// things in its place.
func (h *harness) changingInputs() error {
	if err := h.otherThings(); err != nil {
		return err
	}
	original, err := h.longInput()
	if err != nil {
		return err
	}
	const image = 28 * 28
	half := original[:16+inputRows/2*image+image/3]
	inverted := bytes.Clone(original)
	for i := 16; i < len(inverted); i++ {
		inverted[i] ^= 0xff
	}
	for _, c := range []struct {
		name    string
		content []byte
		how     func(path string, content []byte) error
		mixes   bool // in place: what was read already stays
	}{
		{"cut to a half while it is read", half, truncateTo, false},
		{"cut to nothing while it is read", nil, truncateTo, false},
		{"longer while it is read", append(bytes.Clone(original), 1, 2, 3), appendTo, false},
		{"replaced by another file (rename) while it is read", inverted, renameOver, false},
		{"deleted while it is read", original, func(path string, _ []byte) error { return os.Remove(path) }, false},
		{"rewritten in place while it is read", inverted, writeInPlace, true},
	} {
		r := h.row("Inputs that change or are something else", c.name)
		for _, st := range []state{fresh, overwriting} {
			if err := h.changing(r, original, c.content, c.how, st, c.mixes); err != nil {
				return err
			}
		}
		r.done()
	}
	return nil
}

// longInput is an uncompressed file of images.
func (h *harness) longInput() ([]byte, error) {
	paths, err := h.bigInput()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		return nil, err
	}
	content = content[:16+inputRows*28*28]
	content[4], content[5], content[6], content[7] = 0, 0, inputRows>>8, inputRows&0xff
	return content, nil
}

func truncateTo(path string, content []byte) error { return os.Truncate(path, int64(len(content))) }

func appendTo(path string, _ []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write([]byte{1, 2, 3})
	return err
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
func (h *harness) changing(r *row, original, changed []byte, how func(string, []byte) error, st state, mixes bool) error {
	r.addCase()
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
	// Arrow holds the bytes as they are, in order: a mixture can be distinguished from damage.
	name := fmt.Sprintf("arrow %s %d", r.name, len(changed))
	b, err := h.prepare(scenario{name: name, inputs: []string{input}, flags: []string{"-o", "out.arrow"}, targets: []string{"out.arrow"}, rows: "0:"}, st)
	if err != nil {
		return err
	}
	var second tree // what the changed file would give
	dir, err := os.MkdirTemp(h.tmp, "second-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := renameOver(input, changed); err != nil {
		return err
	}
	if end, _, err := runPlain(b.command(dir, "0:", false)); err != nil {
		return err
	} else if end == (ending{}) {
		if second, err = readTree(dir); err != nil {
			return err
		}
	}
	every := 1
	if h.quick {
		every = 9
	}
	for at := 1; ; at += every {
		if err := restore(); err != nil {
			return err
		}
		hit, mixed, what, wrong, err := b.changeAt(at, input, home, changed, how, second)
		if err != nil {
			return err
		}
		if !hit {
			break
		}
		if mixed && mixes {
			r.mixtures++
			wrong = nil
		}
		r.add(st.name+": "+what, wrong)
	}
	if r.mixtures > 0 {
		r.note = fmt.Sprintf("%d times exit 0 with a mixture, which is not promised otherwise", r.mixtures)
	}
	return nil
}

func (b *bench) changeAt(at int, input, home string, changed []byte, how func(string, []byte) error, second tree) (hit, mixed bool, what string, wrong []string, err error) {
	dir, err := b.box()
	if err != nil {
		return false, false, "", nil, err
	}
	defer os.RemoveAll(dir)
	var failed error
	end, text, err := runTraced(b.run(dir), []string{dir, home}, func(s step) verdict {
		if s.n == at {
			hit, what = true, s.String()
			failed = how(input, changed)
		}
		return verdict{}
	})
	if err == nil {
		err = failed
	}
	if err != nil || !hit {
		return false, false, "", nil, err
	}
	got, err := readTree(dir)
	if err != nil {
		return false, false, "", nil, err
	}
	is := got.under("out.arrow")
	switch {
	case maps.Equal(is, b.after.under("out.arrow")), len(second) > 0 && maps.Equal(is, second.under("out.arrow")):
		if end.code != 0 {
			wrong = append(wrong, fmt.Sprintf("new, but %v", end))
		}
	case maps.Equal(is, b.before.under("out.arrow")):
		if end.code == 0 {
			wrong = append(wrong, "exit 0, but not new")
		}
	default:
		mixed = end == ending{}
		wrong = append(wrong, fmt.Sprintf("a mixture, %v", end))
	}
	if end.signal != 0 || end.hung || !slices.Contains(goodCodes, end.code) {
		wrong, mixed = append(wrong, fmt.Sprintf("%v: %s", end, brief(text))), false
	}
	if left := b.leftIn(got); len(left) > 0 {
		wrong, mixed = append(wrong, fmt.Sprintf("left %v", left)), false
	}
	wrong = append(wrong, b.touched(got)...)
	return true, mixed, what, wrong, nil
}
