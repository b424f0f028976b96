//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// races are other runs, users and readers beside a run.
func (h *harness) races(title string) error {
	if err := h.contention(title); err != nil {
		return err
	}
	benches, err := h.benches()
	if err != nil {
		return err
	}
	if err := h.neighbours(title, benches); err != nil {
		return err
	}
	return h.users(title, benches)
}

// mayLose reports whether a run that met another one may end this way.
func (e ending) mayLose() bool {
	return e == ending{} || e == ending{code: 73} || e == ending{code: 75}
}

// neighbours let a whole second run take place before each call of the first.
func (h *harness) neighbours(title string, benches []*bench) error {
	r := h.row(title, "a whole run with another target in the same folder, before each call")
	same := h.row(title, "a whole run with the same target, before each call")
	return inParallel(h, benches, func(b *bench) error {
		if h.quick && b.scenario.name != "parquet" && b.scenario.name != "png" {
			return nil
		}
		if err := b.beside(r, b.otherRun); err != nil {
			return err
		}
		return b.beside(same, b.sameTarget)
	})
}

// beside does something in the folder before each call with an effect; the run must succeed, or end
// as one that lost.
func (b *bench) beside(r *row, do func(dir string) []string) error {
	return b.sweep(r, disturbance{
		applies: effects,
		do: func(t *try, _ step, since int) verdict {
			if since == 0 {
				t.wrong = do(t.dir)
			}
			return verdict{}
		},
		judge: func(t *try) []string {
			wrong := b.judge(t.dir, outcome{end: t.end, text: t.text})
			if !t.end.mayLose() {
				wrong = append(wrong, fmt.Sprintf("%v: %s", t.end, brief(t.text)))
			}
			return wrong
		},
	})
}

// otherRun makes the outputs of the twin anew; they must be what they were, see touched.
func (b *bench) otherRun(dir string) []string {
	twin := b.twin()
	var err error
	for _, name := range twin.targets {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	end, text, runErr := runPlain(twin.command(dir, newRows, b.flag))
	if err = errors.Join(err, runErr); err != nil || end != (ending{}) {
		return []string{fmt.Sprintf("the other run: %v, %v: %s", err, end, brief(text))}
	}
	return nil
}

// sameTarget is the same run again: it may find the target locked, made or free.
func (b *bench) sameTarget(dir string) []string {
	if end, text, err := runPlain(b.run(dir)); err != nil || !end.mayLose() {
		return []string{fmt.Sprintf("the second run: %v, %v: %s", err, end, brief(text))}
	}
	return nil
}

// secret is the content of a user's file.
const secret = "a user's own work"

// users put files where a run will write, before each of its calls.
func (h *harness) users(title string, benches []*bench) error {
	taken := h.row(title, "a user makes the target before each call: it stays as it is")
	added := h.row(title, "a user puts a file into the old folder before each call: it is not deleted")
	return inParallel(h, benches, func(b *bench) error {
		switch folder := b.scenario.folder(); {
		case b.scenario.name == "part", b.flag != "" && !folder:
			return nil
		case b.flag != "":
			return b.userDoes(added, "mine.txt", makesFile)
		case folder:
			return b.userDoes(taken, "mine.txt", func(path string) bool {
				return os.Mkdir(filepath.Dir(path), 0o777) == nil && makesFile(path)
			})
		}
		return b.userDoes(taken, "", makesFile)
	})
}

// makesFile makes a user's file, and reports whether it is new.
func makesFile(path string) bool {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return false
	}
	_, err = f.WriteString(secret)
	return errors.Join(err, f.Close()) == nil
}

// userDoes lets a user make the file name in the target, or the target itself if name is empty,
// before each call. If do reports that there is a new file, it must stay.
func (b *bench) userDoes(r *row, name string, do func(path string) bool) error {
	did := false // else the run had published already
	path := func(t *try) string { return filepath.Join(t.dir, b.targets[0], name) }
	return b.sweep(r, disturbance{
		before: func() error { did = false; return nil },
		do: func(t *try, _ step, since int) verdict {
			if since == 0 {
				did = do(path(t))
			}
			return verdict{}
		},
		judge: func(t *try) (wrong []string) {
			if !t.end.isGood() {
				wrong = append(wrong, fmt.Sprintf("%v: %s", t.end, brief(t.text)))
			}
			if content, err := os.ReadFile(path(t)); did && (err != nil || string(content) != secret) {
				wrong = append(wrong, fmt.Sprintf("%v, but the user's file is gone: %v", t.end, err))
			}
			return wrong
		},
	})
}
