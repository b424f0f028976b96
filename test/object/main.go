//go:build linux

// Command object drives the built program against a real S3 server, versitygw, on this machine: conversions in both directions compared with local ones byte for byte, and
// uploads through a proxy that breaks connections, answers with errors, goes silent and kills the program.
//
// The server is installed by the go command into a folder of its own, at one version; it is no dependency of the program. It keeps an object as the file of its name, which
// is how this program looks at them without S3.
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
)

// gateway is the server, pinned.
const gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

type settings struct {
	binary, data, server string
	rounds, at           int
	seed                 uint64
	verbose              bool
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "bin/idxport", "the program")
	flag.StringVar(&s.data, "data", "data", "a folder with mnist/ and fashion-mnist/")
	flag.StringVar(&s.server, "versitygw", "", "the server; empty: install it")
	flag.IntVar(&s.rounds, "rounds", 100, "uploads with faults")
	flag.IntVar(&s.at, "at-once", 2, "so many of them at a time")
	flag.Uint64Var(&s.seed, "seed", 1, "of the choice of faults")
	flag.BoolVar(&s.verbose, "v", false, "tell of every upload")
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
	defer func() { err = errors.Join(err, removeAll(work)) }()
	for _, path := range []*string{&s.binary, &s.data} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if s.server == "" {
		if s.server, err = install(ctx, work); err != nil {
			return err
		}
	}
	store, err := start(ctx, s.server, work)
	if err != nil {
		return err
	}
	defer store.stop()
	t := &tests{settings: s, ctx: ctx, work: work, store: store}
	t.conversions()
	t.ranges()
	t.failures()
	t.faults()
	fmt.Printf("%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 {
		return errors.New("object storage: failed")
	}
	return ctx.Err()
}

// removeAll removes what the go command made too, whose folders are read-only.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// install builds the server in a folder outside of any module.
func install(ctx context.Context, work string) (string, error) {
	bin := filepath.Join(work, "gobin")
	c := exec.CommandContext(ctx, "go", "install", gateway)
	c.Dir, c.Stderr = work, os.Stderr
	c.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-buildvcs=false")
	fmt.Println("installing", gateway)
	return filepath.Join(bin, "versitygw"), c.Run()
}

// A result is a run of the program.
type result struct {
	code   int
	output string // both streams
}

// The key of the server, which the program finds in its environment as its users' do, and must not show.
const (
	accessKey = "AKIAIDXPORTTESTING00"
	secretKey = "not/a/real/secret/but/never/to/be/shown0"
)

// environment is that of the program: the key, and nothing of this machine's own.
func environment() []string {
	env := []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null"}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "AWS_") && !strings.Contains(strings.ToLower(e), "_proxy=") {
			env = append(env, e)
		}
	}
	return env
}

// run runs the program; started is told of the process.
func (t *tests) run(started func(*os.Process), args ...string) result {
	c := exec.CommandContext(t.ctx, t.binary, args...)
	c.Dir, c.Env = t.work, environment()
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
