//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idxport/idxport/test/object/proxy"
)

// bucket is the only one of each server.
const bucket = "idx"

// A cloud is a server of one kind of storage on this machine, with one bucket.
type cloud interface {
	// home is where the server listens.
	home() *url.URL
	// at tells the program to reach the server at a URL, which may be that of a proxy.
	at(u *url.URL) place
	// stranger is the server for a program that may nothing, or nil if it knows no rights.
	stranger() *place
	// put stores an object as users' programs do. Its encoding is what they say of it: gzip, or nothing.
	put(ctx context.Context, key string, text []byte, encoding string) error
	// get reads an object past the program; the error is fs.ErrNotExist if there is none.
	get(ctx context.Context, key string) ([]byte, error)
	// left is how many parts are there, of uploads of a key that are not ended and can be.
	left(ctx context.Context, key string) (int, error)
	// clean does what a lifecycle rule does: it ends uploads that nobody will end.
	clean(ctx context.Context, key string) error
	// last tells whether a request is the one that makes an object seen.
	last(r *http.Request) bool
	// suits is the fault in place of f for a request, as no server is like the cloud in everything.
	suits(f proxy.Fault, r *http.Request) proxy.Fault
	stop()
}

// clouds are how the servers are started, by the scheme of their URLs.
var clouds = map[string]func(context.Context, settings, string) (cloud, error){"s3": startS3, "gs": startGS, "azblob": startAzblob}

// A place is a server as the program is told of it.
type place struct {
	scheme  string
	query   url.Values
	environ []string
}

// object is the URL of an object, with more parameters: name=value.
func (p place) object(key string, more ...string) string {
	return p.in(bucket, key, more...)
}

// in is the URL of an object in any bucket.
func (p place) in(bucket, key string, more ...string) string {
	parts := slices.Clone(more)
	if len(p.query) > 0 {
		parts = append(parts, p.query.Encode())
	}
	u := p.scheme + "://" + bucket + "/" + key
	if len(parts) > 0 {
		u += "?" + strings.Join(parts, "&")
	}
	return u
}

// environment is that of the program: what the place says, and of this machine nothing that names a storage or its keys.
func (p place) environment() []string {
	env := slices.Clone(p.environ)
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		cloudy := slices.ContainsFunc([]string{"AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_"}, func(s string) bool { return strings.HasPrefix(name, s) })
		if !cloudy && !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			env = append(env, e)
		}
	}
	return env
}

// behind starts a proxy before a server.
func behind(c cloud, next func(*http.Request) proxy.Fault) (*proxy.Proxy, *httptest.Server, place) {
	p := &proxy.Proxy{Target: c.home()}
	if next != nil {
		p.Next = func(r *http.Request) proxy.Fault { return c.suits(next(r), r) }
	}
	front := httptest.NewServer(p)
	u, err := url.Parse(front.URL)
	if err != nil {
		panic(err) // the URL is the test server's own
	}
	return p, front, c.at(u)
}

// A process is a running server.
type process struct {
	url     *url.URL
	command *exec.Cmd
	log     string
}

// free is an address of this machine where nobody listens.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// launch starts a server that will listen at an address, and waits until the first request to it succeeds.
func launch(address, work string, c *exec.Cmd, first func() error) (*process, error) {
	p := &process{&url.URL{Scheme: "http", Host: address}, c, filepath.Join(work, filepath.Base(c.Path)+".log")}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has it
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		if err = first(); err == nil {
			return p, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.stop()
	text, readErr := os.ReadFile(p.log)
	return nil, errors.Join(fmt.Errorf("the server does not answer: %w\n%s", err, text), readErr)
}

func (p *process) home() *url.URL { return p.url }

func (p *process) stop() {
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
}

// install builds a server with the go command, at one version and in a folder outside of any module: it is no dependency of the program.
func install(ctx context.Context, work, module string) (string, error) {
	bin := filepath.Join(work, "gobin")
	c := exec.CommandContext(ctx, "go", "install", module)
	c.Dir, c.Stderr = work, os.Stderr
	c.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-buildvcs=false")
	fmt.Println("installing", module)
	name, _, _ := strings.Cut(filepath.Base(module), "@")
	return filepath.Join(bin, name), c.Run()
}
