//go:build linux && amd64

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
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

// contention lets many runs make one output.
func (h *harness) contention() error {
	rounds := 100
	if h.quick {
		rounds = 5
	}
	scenarios := h.scenarios()
	for _, c := range []struct {
		name   string
		st     state
		killed bool
		rounds int
	}{
		{"parquet", fresh, false, rounds},
		{"parquet", overwriting, false, rounds},
		{"png", fresh, false, rounds / 5},
		{"png", overwriting, false, rounds},
		{"parts", overwriting, false, rounds / 5},
		{"two", overwriting, false, rounds / 5},
		{"parquet", overwriting, true, rounds / 2},
		{"png", overwriting, true, rounds / 2},
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
		name := fmt.Sprintf("%d runs of one output at once, %s, %s", contenders, c.name, c.st.name)
		if c.killed {
			name += ", a third of them killed"
		}
		r := h.row("Other runs and readers", name)
		r.addCase()
		for round := range max(c.rounds, 1) {
			wrong, err := b.contentionRound(variants, c.killed)
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
func (b *bench) contentionRound(variants []tree, killed bool) ([]string, error) {
	dir, err := b.box()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var (
		group sync.WaitGroup
		ends  [contenders]ending
		texts [contenders]string
		errs  [contenders]error
	)
	for i := range contenders {
		group.Go(func() {
			cmd := b.command(dir, rowsOf(i), b.overwrite)
			if killed && i%3 == 0 {
				ends[i], texts[i], errs[i] = killedSometime(cmd)
				return
			}
			ends[i], texts[i], errs[i] = runPlain(cmd)
		})
	}
	group.Wait()
	var wrong []string
	var winners []tree
	for i, end := range ends {
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case end == ending{}, end.signal != 0: // a killed run may have published
			winners = append(winners, variants[i%ranges])
		case !end.mayLose():
			wrong = append(wrong, fmt.Sprintf("%v: %s", end, brief(texts[i])))
		}
	}
	if len(winners) == 0 || !b.overwrite && !killed && len(winners) > 1 {
		wrong = append(wrong, fmt.Sprintf("%d of them succeeded", len(winners)))
	}
	if killed {
		winners = append(winners, b.before)
	}
	got, err := readTree(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range b.targets {
		is := got.under(name)
		if !slices.ContainsFunc(winners, func(w tree) bool { return maps.Equal(is, w.under(name)) }) {
			wrong = append(wrong, name+" is not the output of a run that succeeded")
		}
	}
	if left := b.leftIn(got); len(left) > 0 && !killed {
		wrong = append(wrong, fmt.Sprintf("left %v", left))
	}
	wrong = append(wrong, b.touched(got)...)
	if b.overwrite {
		wrong = append(wrong, b.judgeRerun(dir)...)
	}
	return wrong, nil
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
