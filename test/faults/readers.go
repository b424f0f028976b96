//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// readers read a target again and again while it is replaced.
func (h *harness) readers() error {
	rounds := 100
	if h.quick {
		rounds = 15
	}
	for _, sc := range h.scenarios() {
		query := map[string]string{
			"parquet": "read_parquet('out.parquet')", "csv": "read_csv('out.csv')", "parts": "read_parquet('parts.parquet/*.parquet')",
		}[sc.name]
		if query == "" {
			continue
		}
		r := h.row("Other runs and readers", fmt.Sprintf("DuckDB reading %s while it is replaced %d times", sc.name, rounds))
		if h.python == "" {
			r.skip("no -python with duckdb")
			continue
		}
		b, err := h.bench(sc, overwriting)
		if err != nil {
			return err
		}
		r.addCase()
		if err := b.readWhileReplaced(r, query, rounds); err != nil {
			return err
		}
	}
	return nil
}

// readingScript prints, until its input ends, what each query saw.
const readingScript = `
import duckdb, sys, threading
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
while True:
    ended = stop.is_set()
    try:
        print(*duckdb.connect().execute("select count(*), bit_xor(hash(t)) from " + sys.argv[1] + " t").fetchone(), flush=True)
    except Exception as e:
        print("error", type(e).__name__, str(e).replace("\n", " "), flush=True)
    if ended:
        break
`

// readOnce is what the reader sees in a folder at rest.
func (b *bench) readOnce(dir, query string) (string, error) {
	cmd := exec.Command(b.python, "-c", readingScript, query)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader("")
	text, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], err
}

func (b *bench) readWhileReplaced(r *row, query string, rounds int) error {
	dir, err := b.box()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	old, err := b.readOnce(b.base, query)
	if err != nil {
		return err
	}
	new, err := b.readOnce(b.base+" result", query)
	if err != nil {
		return err
	}
	cmd := exec.Command(b.python, "-c", readingScript, query)
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var seen strings.Builder
	cmd.Stdout, cmd.Stderr = &seen, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(time.Second) // Python starts
	var wrong []string
	for i := range rounds {
		rows := []string{newRows, oldRows}[i%2]
		if end, text, err := runPlain(b.command(dir, rows, true)); err != nil || end != (ending{}) {
			wrong = append(wrong, fmt.Sprintf("%v %v %s", err, end, brief(text)))
		}
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		return err
	}
	counts := map[string]int{}
	for line := range strings.Lines(seen.String()) {
		counts[strings.TrimSpace(line)]++
	}
	failed := 0
	for line, n := range counts {
		switch {
		case line == old, line == new:
		case strings.HasPrefix(line, "error "): // it opened a file twice, or one that it had listed: see README.md
			failed += n
		default:
			wrong = append(wrong, fmt.Sprintf("%d times: %s", n, line))
		}
	}
	if old == new || counts[old] == 0 || counts[new] == 0 {
		wrong = append(wrong, fmt.Sprintf("the reader did not see both: %v", counts))
	}
	r.note = fmt.Sprintf("saw old %d times, new %d times", counts[old], counts[new])
	if failed > 0 {
		r.note += fmt.Sprintf(", an error %d times", failed)
	}
	r.add(query, wrong)
	return nil
}

// folder reports whether the first target is one.
func (s scenario) folder() bool { return slices.Contains([]string{"png", "parts", "hub"}, s.name) }
