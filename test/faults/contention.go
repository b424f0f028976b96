//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Runs with one output at once. Each takes one of some ranges of rows, so that the output shows
// which runs may have made it.
const (
	contenders = 32 // runs
	ranges     = 12
)

// A company is what happens beside the runs; its value ends the name of a row.
type company string

const (
	nobody company = ""
	reader company = ", read every millisecond" // it finds only whole outputs
	mover  company = ", replaced by mv"         // another program renames files over the output
	killer company = ", a third of them killed"
)

// contention lets many runs make one output.
func (h *harness) contention(title string) error {
	rounds := 100
	if h.quick {
		rounds = 5
	}
	scenarios := h.scenarios()
	for _, c := range []struct {
		name   string
		st     state
		beside company
		rounds int
	}{
		{"parquet", fresh, nobody, rounds},
		{"parquet", overwriting, reader, rounds},
		{"parquet", overwriting, mover, rounds},
		{"png", fresh, nobody, rounds / 5},
		{"png", overwriting, nobody, rounds},
		{"parts", overwriting, reader, rounds / 5},
		{"part", overwriting, nobody, rounds / 5},
		{"parquet", overwriting, killer, rounds / 2},
		{"png", overwriting, killer, rounds / 2},
	} {
		i := slices.IndexFunc(scenarios, func(sc scenario) bool { return sc.name == c.name })
		b, err := h.bench(scenarios[i], c.st)
		if err != nil {
			return err
		}
		variants, err := b.variants()
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d runs of one output at once, %s, %s%s", contenders, c.name, c.st.name, c.beside)
		r := h.row(title, name)
		r.addCase()
		for round := range max(c.rounds, 1) {
			wrong, err := b.contentionRound(variants, c.beside)
			if err != nil {
				return err
			}
			r.add(fmt.Sprintf("round %d", round), wrong)
		}
	}
	return nil
}

// variants are the outputs of each range of rows.
func (b *bench) variants() ([]tree, error) {
	var list []tree
	for i := range ranges {
		dir, err := os.MkdirTemp(b.tmp, "variant-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := b.mustMake(dir, rowsOf(i)); err != nil {
			return nil, err
		}
		made, err := readTree(dir)
		if err != nil {
			return nil, err
		}
		list = append(list, made)
	}
	return list, nil
}

func rowsOf(member int) string { return fmt.Sprintf("%d:%d", member%ranges, member%ranges+4) }

// contentionRound starts all runs at once and waits for all.
func (b *bench) contentionRound(variants []tree, beside company) ([]string, error) {
	dir, err := b.box()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	killed := beside == killer
	stop := b.accompany(dir, variants, beside)
	var (
		group sync.WaitGroup
		ends  [contenders]ending
		texts [contenders]string
		errs  [contenders]error
	)
	for i := range contenders {
		group.Go(func() {
			run := runPlain
			if killed && i%3 == 0 {
				run = killedSometime
			}
			ends[i], texts[i], errs[i] = run(b.command(dir, rowsOf(i), b.flag))
		})
	}
	group.Wait()
	wrong := stop()
	var winners []tree
	for i, end := range ends {
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case end == ending{}, end.signal != 0: // a killed run may have published
			winners = append(winners, variants[i%ranges])
		case !end.mayLose() || b.flag != "" && end.code == 73:
			wrong = append(wrong, fmt.Sprintf("%v: %s", end, brief(texts[i])))
		}
	}
	if len(winners) == 0 || b.flag == "" && !killed && len(winners) > 1 {
		wrong = append(wrong, fmt.Sprintf("%d of them succeeded", len(winners)))
	}
	if killed {
		winners = append(winners, b.before)
	}
	left, err := b.judgeTree(dir, winners, beside)
	return append(wrong, left...), err
}

// judgeTree returns what is wrong with what the runs left in dir: each target must be that of a
// winner, unless it was moved.
func (b *bench) judgeTree(dir string, winners []tree, beside company) (wrong []string, err error) {
	got, err := readTree(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range b.targets {
		is := got.under(name)
		made := func(w tree) bool { return maps.Equal(is, w.under(name)) }
		if beside != mover && !slices.ContainsFunc(winners, made) {
			wrong = append(wrong, name+" is not the output of a run that succeeded")
		}
	}
	if left := b.leftIn(got); len(left) > 0 && beside != killer {
		wrong = append(wrong, fmt.Sprintf("left %v", left))
	}
	wrong = append(wrong, b.touched(got)...)
	if b.flag != "" {
		wrong = append(wrong, b.judgeRerun(dir, got)...)
	}
	return wrong, nil
}

// accompany does what happens beside the runs until the function that it returns is called, which
// returns what was wrong.
func (b *bench) accompany(dir string, variants []tree, beside company) (stop func() []string) {
	done, ended := make(chan struct{}), make(chan []string)
	target := b.targets[0]
	once := map[company]func() []string{
		nobody: func() []string { return nil },
		killer: func() []string { return nil },
		reader: func() []string {
			content, err := os.ReadFile(filepath.Join(dir, target))
			found := tree{target: fileState(0o644, content)}
			if b.scenario.folder() { // is listed before its files are opened
				found, err = readTree(filepath.Join(dir, target))
			}
			whole := func(w tree) bool {
				for name, is := range found {
					if w[name] != is && w[filepath.Join(target, name)] != is {
						return false
					}
				}
				all := w.under(target)
				delete(all, target)
				return len(found) == max(len(all), 1)
			}
			// A file of the list may be gone, but none is a new one.
			gone := errors.Is(err, fs.ErrNotExist) && b.scenario.folder()
			if gone || err == nil && slices.ContainsFunc(append(variants, b.before), whole) {
				return nil
			}
			return []string{fmt.Sprintf("the reader found %v, %v", found, err)}
		},
		mover: func() []string {
			_ = writeFile(dir+".mine", "mine")
			_ = os.Rename(dir+".mine", filepath.Join(dir, target))
			return nil
		},
	}[beside]
	go func() {
		var wrong []string
		for {
			select {
			case <-done:
				ended <- wrong
				return
			case <-time.After(time.Millisecond):
				wrong = append(wrong, once()...)
			}
		}
	}()
	return func() []string { close(done); return <-ended }
}

// killedSometime kills the run at a random moment of its life.
func killedSometime(cmd *exec.Cmd) (ending, string, error) {
	timer := time.AfterFunc(time.Duration(rand.IntN(600))*time.Millisecond, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	return runPlain(cmd)
}
