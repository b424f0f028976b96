//go:build linux && amd64

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// races are other runs, users and readers beside a run.
func (h *harness) races() error {
	if err := h.crowds(); err != nil {
		return err
	}
	benches, err := h.benches()
	if err != nil {
		return err
	}
	if err := h.neighbours(benches); err != nil {
		return err
	}
	if err := h.users(benches); err != nil {
		return err
	}
	return h.readers()
}

// neighbours let a whole second run take place before each call of the first.
func (h *harness) neighbours(benches []*bench) error {
	r := h.row("Other runs and readers", "a whole run with another target in the same folder, before each call")
	same := h.row("Other runs and readers", "a whole run with the same target, before each call")
	err := inParallel(h, benches, func(b *bench) error {
		if len(b.targets) > 1 || h.quick && b.scenario.name != "parquet" && b.scenario.name != "png" {
			return nil // of two targets the other run would share one
		}
		r.addCase()
		same.addCase()
		for at := 1; ; at++ {
			hit, what, wrong, err := b.beside(at, func(dir string) []string { return b.otherTarget(dir) })
			if err != nil {
				return err
			}
			if !hit {
				return nil
			}
			r.add(fmt.Sprintf("%s, %s: %s", b.scenario.name, b.state.name, what), wrong)
			_, what, wrong, err = b.beside(at, func(dir string) []string { return b.sameTarget(dir) })
			if err != nil {
				return err
			}
			same.add(fmt.Sprintf("%s, %s: %s", b.scenario.name, b.state.name, what), wrong)
		}
	})
	r.done()
	same.done()
	return err
}

// beside does something in the folder before the at-th call with an effect; the run must end well,
// or as one that lost.
func (b *bench) beside(at int, do func(dir string) []string) (hit bool, what string, wrong []string, err error) {
	dir, err := b.box()
	if err != nil {
		return false, "", nil, err
	}
	defer os.RemoveAll(dir)
	seen := 0
	end, text, err := runTraced(b.run(dir), []string{dir}, func(s step) verdict {
		if s.effect() {
			seen++
			if seen == at {
				what = s.String()
				wrong = do(dir)
			}
		}
		return verdict{}
	})
	if err != nil || seen < at {
		return false, "", nil, err
	}
	if end.code != 0 && end.code != 73 && end.code != 75 || end.signal != 0 {
		wrong = append(wrong, fmt.Sprintf("%v: %s", end, brief(text)))
	}
	return true, what, append(wrong, b.judge(dir, outcome{end: end, text: text})...), nil
}

// otherTarget makes an output of another name, checks that it is whole, and removes it.
func (b *bench) otherTarget(dir string) []string {
	other := "another-" + b.targets[0]
	flags := slices.Clone(b.flags)
	for i := range flags {
		flags[i] = strings.Replace(flags[i], b.targets[0], other, 1)
	}
	twin := *b
	twin.flags = flags
	end, text, err := runPlain(twin.command(dir, newRows, false))
	if err != nil || end != (ending{}) {
		return []string{fmt.Sprintf("the other run: %v, %v: %s", err, end, brief(text))}
	}
	got, err := readTree(filepath.Join(dir, other))
	want, wantErr := readTree(filepath.Join(b.base+" result", b.targets[0]))
	if err != nil || wantErr != nil || !maps.Equal(got, want) {
		return []string{fmt.Sprintf("the other run's output: %v, %v", err, difference(want, got))}
	}
	if err := os.RemoveAll(filepath.Join(dir, other)); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// sameTarget is the same run again: it may find the target locked, made or free.
func (b *bench) sameTarget(dir string) []string {
	end, text, err := runPlain(b.run(dir))
	if err != nil || end.signal != 0 || end.code != 0 && end.code != 73 && end.code != 75 {
		return []string{fmt.Sprintf("the second run: %v, %v: %s", err, end, brief(text))}
	}
	return nil
}

// users put files where a run will write, before each of its calls.
func (h *harness) users(benches []*bench) error {
	taken := h.row("Other runs and readers", "a user makes the target before each call: it stays as it is")
	added := h.row("Other runs and readers", "a user puts a file into the old folder before each call: it is not deleted")
	return inParallel(h, benches, func(b *bench) error {
		folder := b.scenario.folder()
		if b.scenario.name == "two" || b.overwrite && !folder {
			return nil
		}
		r, do := taken, b.takeTarget
		if b.overwrite {
			r, do = added, b.addToTarget
		}
		r.addCase()
		defer r.done()
		for at := 1; ; at++ {
			hit, what, wrong, err := b.userDoes(at, folder, do)
			if err != nil || !hit {
				return err
			}
			r.add(fmt.Sprintf("%s, %s: %s", b.scenario.name, b.state.name, what), wrong)
		}
	})
}

// secret is what a user writes.
const secret = "a user's own work"

// takeTarget makes the target if it is free.
func (b *bench) takeTarget(path string, folder bool) bool {
	if folder {
		if os.Mkdir(path, 0o777) != nil {
			return false
		}
		path = filepath.Join(path, "mine.txt")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.WriteString(secret)
	return err == nil
}

// addToTarget puts a file into the folder.
func (b *bench) addToTarget(path string, _ bool) bool {
	return os.WriteFile(filepath.Join(path, "mine.txt"), []byte(secret), 0o666) == nil
}

func (b *bench) userDoes(at int, folder bool, do func(path string, folder bool) bool) (hit bool, what string, wrong []string, err error) {
	dir, err := b.box()
	if err != nil {
		return false, "", nil, err
	}
	defer os.RemoveAll(dir)
	seen, did := 0, false
	end, text, err := runTraced(b.run(dir), []string{dir}, func(s step) verdict {
		seen++
		if seen == at {
			what = s.String()
			did = do(filepath.Join(dir, b.targets[0]), folder)
		}
		return verdict{}
	})
	if err != nil || seen < at {
		return false, "", nil, err
	}
	if end.hung || end.signal != 0 || !slices.Contains(goodCodes, end.code) {
		wrong = append(wrong, fmt.Sprintf("%v: %s", end, brief(text)))
	}
	if !did {
		return true, what, wrong, nil // it was there already: the run had published
	}
	place := ""
	if folder {
		place = "mine.txt"
	}
	content, readErr := os.ReadFile(filepath.Join(dir, b.targets[0], place))
	if readErr != nil || string(content) != secret {
		wrong = append(wrong, fmt.Sprintf("%v, but the user's file is gone: %v", end, readErr))
	}
	return true, what, wrong, nil
}
