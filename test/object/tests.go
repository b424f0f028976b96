//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// tests are the checks of a run, and their outcome.
type tests struct {
	settings
	ctx    context.Context
	work   string
	server *server
	home   place

	mu             sync.Mutex
	passed, failed int
}

func (t *tests) fail(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed++
	fmt.Printf("FAIL: "+format+"\n", args...)
}

func (t *tests) pass(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed++
	fmt.Printf("ok: "+format+"\n", args...)
}

// ends demands the exit code of a run with the server.
func (t *tests) ends(code int, args ...string) (result, bool) {
	return t.endsAt(t.home, code, args...)
}

// endsAt is ends for any place.
func (t *tests) endsAt(p place, code int, args ...string) (result, bool) {
	r := t.run(p, nil, args...)
	if r.code != code {
		t.fail("%v: exit %d, expected %d: %s", args, r.code, code, r.output)
	}
	return r, r.code == code
}

// same demands that two files have equal bytes.
func (t *tests) same(what, found, expected string) {
	a, err := os.ReadFile(found)
	t.compare(what, a, err, expected)
}

// sameObject is same for an object.
func (t *tests) sameObject(what, key, expected string) {
	a, err := t.server.get(key)
	t.compare(what, a, err, expected)
}

func (t *tests) compare(what string, found []byte, err error, expected string) {
	b, errB := os.ReadFile(expected)
	if err != nil || errB != nil || !bytes.Equal(found, b) {
		t.fail("%s: found %d bytes, %v, which is not %s (%d bytes, %v)", what, len(found), err, expected, len(b), errB)
		return
	}
	t.pass("%s, %d bytes", what, len(found))
}

// store puts a file into the bucket.
func (t *tests) store(key, path, encoding string) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = t.server.put(t.ctx, key, text, encoding)
	}
	if err != nil {
		t.fail("%s: %v", key, err)
	}
}

// local is a path in the working folder.
func (t *tests) local(name string) string { return filepath.Join(t.work, "local", name) }

// raw are the files of MNIST and packed those of Fashion-MNIST.
func (t *tests) raw(name string) string    { return filepath.Join(t.data, "mnist", name) }
func (t *tests) packed(name string) string { return filepath.Join(t.data, "fashion-mnist", name+".gz") }

// files are the published names.
var files = []string{
	"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
}

// conversions compares runs from and to the store with local ones.
func (t *tests) conversions() {
	s := t.home
	if err := os.MkdirAll(t.local(""), 0o700); err != nil {
		t.fail("%v", err)
	}
	for _, name := range files {
		t.store("mnist/"+name, t.raw(name), "")
		t.store("fashion/"+name+".gz", t.packed(name), "")
		t.store("encoded/"+name+".gz", t.packed(name), "gzip")
	}
	// The local results, which other suites compare with other programs.
	t.ends(0, "convert", t.raw(""), "-o", t.local("mnist")+"/", "--to", "parquet,csv,arrow")
	t.ends(0, "convert", t.packed(files[0]), t.packed(files[1]), "-o", t.local("fashion.parquet"))

	t.ends(0, "convert", s.object("mnist/"+files[0]), s.object("mnist/"+files[1]), "-o", t.local("from.parquet"))
	t.same("from objects to a file", t.local("from.parquet"), t.local("mnist/train.parquet"))
	t.ends(0, "convert", s.object("mnist/"), "-o", s.object("out/"), "--to", "parquet,csv,arrow")
	for _, name := range strings.Fields("train.parquet train.csv train.arrow test.parquet test.csv test.arrow") {
		t.sameObject("from a prefix to a prefix: "+name, "out/"+name, t.local("mnist/"+name))
	}
	t.ends(0, "convert", t.raw(""), "-o", s.object("up/{split}.parquet"))
	t.sameObject("from files to an object", "up/train.parquet", t.local("mnist/train.parquet"))
	for _, folder := range []string{"fashion", "encoded"} { // without and with a Content-Encoding
		images, labels := s.object(folder+"/"+files[0]+".gz"), s.object(folder+"/"+files[1]+".gz")
		t.ends(0, "convert", images, labels, "-o", s.object(folder+".parquet"))
		t.sameObject("from compressed objects: "+folder, folder+".parquet", t.local("fashion.parquet"))
	}

	t.ends(0, "convert", s.object("out/train.parquet"), "-o", "idx="+s.object("back/"))
	for _, name := range files[:2] {
		t.sameObject("back from parquet: "+name, "back/"+name, t.raw(name))
	}
	made, images, labels := s.object("out/train.parquet"), s.object("mnist/"+files[0]), s.object("mnist/"+files[1])
	if _, ok := t.ends(0, "verify", made, images, labels); ok {
		t.pass("verify an object")
	}
	images, labels = s.object("fashion/"+files[0]+".gz"), s.object("fashion/"+files[1]+".gz")
	if _, ok := t.ends(1, "verify", made, images, labels, "--dataset", "none"); ok {
		t.pass("verify finds a difference")
	}
}

// failures demands the exit codes of errors of the server. (Command lines that are refused without
// it are tested with package fake.)
func (t *tests) failures() {
	s, stranger := t.home, t.server.at(t.server.url)
	stranger.query.Set("anonymous", "true") // a program without permissions
	from := func(input string) []string { return []string{"inspect", input} }
	to := func(output string) []string { return []string{"convert", t.raw(files[2]), "-o", output} }
	for _, c := range []struct {
		name string
		at   place
		code int
		says string
		args []string
	}{
		{"no such object", s, 66, "not found", from(s.object("none"))},
		{"no such bucket", s, 66, "bucket does not exist", from(s.in("none", "x"))},
		{"no such bucket for an output", s, 73, "bucket does not exist", to(s.in("none", "x.npy"))},
		{"an output that exists", s, 73, "already exists", to(s.object("out/train.parquet"))},
		{"denied", stranger, 77, "access denied", from(stranger.object("mnist/"))},
		{"denied for an object", stranger, 77, "access denied", from(stranger.object("mnist/" + files[0]))},
		{"denied for an output", stranger, 77, "access denied", to(stranger.object("denied.npy"))},
	} {
		if r, ok := t.endsAt(c.at, c.code, c.args...); ok && !strings.Contains(r.output, c.says) {
			t.fail("%s: %q does not contain %q", c.name, r.output, c.says)
		} else if ok {
			t.pass("%s: exit %d", c.name, c.code)
		}
	}
}
