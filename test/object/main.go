//go:build linux

// Command object drives the built program against a real server of S3 on this machine, versitygw.
// Conversions in both directions are compared with local ones byte for byte. Uploads go through a
// proxy that breaks connections, answers with errors, stalls and kills the program. (Reads through
// the proxy are tested in package object.)
//
// The server of S3 is installed by the go command into a folder of its own, at one version; it is
// no dependency of the program. Objects are also read as files, without S3.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

type settings struct {
	binary, data, gateway string
	rounds, at            int
	seed                  uint64
	serve                 bool
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "bin/idxport", "the program")
	flag.StringVar(&s.data, "data", "data", "a folder with mnist/ and fashion-mnist/")
	flag.StringVar(&s.gateway, "versitygw", "", "the server; empty: install it")
	flag.IntVar(&s.rounds, "rounds", 100, "uploads with faults")
	flag.IntVar(&s.at, "at-once", 2, "uploads at the same time")
	flag.Uint64Var(&s.seed, "seed", 1, "of the choice of faults")
	flag.BoolVar(&s.serve, "serve", false, "only run the server, for the commands on standard input")
	flag.Parse()
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, s settings) (err error) {
	work, err := os.MkdirTemp("", "idxport-object-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	for _, path := range []*string{&s.binary, &s.data} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	gate, err := startServer(ctx, s.gateway, work)
	if err != nil {
		return err
	}
	defer gate.stop()
	if s.serve {
		return serve(ctx, gate)
	}
	begin := time.Now()
	t := &tests{settings: s, ctx: ctx, work: work, server: gate, home: gate.at(gate.url)}
	t.conversions()
	t.failures()
	t.faults()
	fmt.Printf("%d passed, %d failed, in %v\n", t.passed, t.failed, time.Since(begin).Round(time.Second))
	if t.failed > 0 {
		return errors.New("object storage: failed")
	}
	return ctx.Err()
}

// A result is a run of the program.
type result struct {
	code   int
	output string // both streams
}

// run runs the program with the settings of a server; started is called with the process.
func (t *tests) run(p place, started func(*os.Process), args ...string) result {
	c := exec.CommandContext(t.ctx, t.binary, args...)
	c.Dir, c.Env = t.work, p.environment()
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return result{code: -1, output: err.Error()}
	}
	if started != nil {
		started(c.Process)
	}
	_ = c.Wait()
	r := result{code: c.ProcessState.ExitCode(), output: out.String()}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.code = 128 + int(status.Signal())
	}
	for _, secret := range []string{secretKey, accessKey, "Signature", "X-Amz"} {
		if strings.Contains(r.output, secret) {
			t.fail("%v shows %q: %s", args, secret, r.output)
		}
	}
	return r
}
