//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
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

// ends demands that a run for the server ends with a code.
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

// same demands that two files have the same bytes.
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
var files = []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}

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
	// The local results, which other tests compare with the format and with other programs.
	t.ends(0, "convert", t.raw(""), "-o", t.local("mnist")+"/", "--to", "parquet,csv,arrow")
	t.ends(0, "convert", t.packed(files[0]), t.packed(files[1]), "-o", t.local("fashion.parquet"))

	t.ends(0, "convert", s.object("mnist/"+files[0]), s.object("mnist/"+files[1]), "-o", t.local("from.parquet"))
	t.same("from objects to a file", t.local("from.parquet"), t.local("mnist/train.parquet"))
	t.ends(0, "convert", s.object("mnist/"), "-o", s.object("out/"), "--to", "parquet,csv,arrow")
	for _, name := range []string{"train.parquet", "train.csv", "train.arrow", "test.parquet", "test.csv", "test.arrow"} {
		t.sameObject("from a prefix to a prefix: "+name, "out/"+name, t.local("mnist/"+name))
	}
	t.ends(0, "convert", t.raw(""), "-o", s.object("up/{split}.parquet"))
	t.sameObject("from files to an object", "up/train.parquet", t.local("mnist/train.parquet"))
	for _, folder := range []string{"fashion", "encoded"} { // as they are, and such as connections may unpack
		t.ends(0, "convert", s.object(folder+"/"+files[0]+".gz"), s.object(folder+"/"+files[1]+".gz"), "-o", s.object(folder+".parquet"))
		t.sameObject("from compressed objects: "+folder, folder+".parquet", t.local("fashion.parquet"))
	}

	for _, from := range []string{"parquet", "arrow", "csv"} {
		t.ends(0, "convert", s.object("out/train."+from), "-o", "idx="+s.object("back/"+from+"/"))
		for _, name := range files[:2] {
			t.sameObject("back from "+from+": "+name, "back/"+from+"/"+name, t.raw(name))
		}
	}
	file := "file://" + t.raw(files[2])
	t.ends(0, "convert", file, "-o", "file://"+t.local("by-url.npy"))
	t.ends(0, "convert", t.raw(files[2]), "-o", t.local("by-path.npy"))
	t.same("file:// is a path", t.local("by-url.npy"), t.local("by-path.npy"))
	t.looks()
}

// looks are the commands that write nothing.
func (t *tests) looks() {
	s := t.home
	if r, ok := t.ends(0, "inspect", s.object("mnist/")); ok {
		local, _ := t.ends(0, "inspect", t.raw(""))
		if a, b := withoutPaths(r.output), withoutPaths(local.output); a != b {
			t.fail("inspect: found\n%s\nexpected\n%s", a, b)
		} else {
			t.pass("inspect says of objects what it says of files")
		}
	}
	for _, out := range []string{"out/train.parquet", "out/train.csv"} {
		if _, ok := t.ends(0, "verify", s.object(out), s.object("mnist/"+files[0]), s.object("mnist/"+files[1])); ok {
			t.pass("verify %s", out)
		}
	}
	if _, ok := t.ends(1, "verify", s.object("out/train.parquet"), s.object("fashion/"+files[0]+".gz"), s.object("fashion/"+files[1]+".gz"), "--dataset", "none"); ok {
		t.pass("verify finds a difference")
	}
}

// withoutPaths is what inspect prints without the folders.
func withoutPaths(text string) string {
	var words []string
	for _, w := range strings.Fields(text) {
		words = append(words, w[strings.LastIndexByte(w, '/')+1:])
	}
	return strings.Join(words, " ")
}

// ranges demands that --rows reads no more than the rows, and the beginnings of the files.
func (t *tests) ranges() {
	p, front, there := behind(t.server, nil)
	defer front.Close()
	t.endsAt(there, 0, "convert", there.object("mnist/"+files[0]), there.object("mnist/"+files[1]), "--dataset", "mnist", "--rows", "30000:31000", "-o", t.local("rows.parquet"))
	t.ends(0, "convert", t.raw(files[0]), t.raw(files[1]), "--dataset", "mnist", "--rows", "30000:31000", "-o", t.local("rows-local.parquet"))
	t.same("--rows", t.local("rows.parquet"), t.local("rows-local.parquet"))
	const images, beginning = 1000 * 784, 64 << 10
	// Each file is opened to see what it is, and to read its header, and to read its rows; the
	// labels fit into one beginning.
	if most := int64(images + 8*beginning); p.Sent() > most {
		t.fail("--rows read %d bytes, expected at most %d", p.Sent(), most)
	} else {
		t.pass("--rows read %d bytes for %d of images", p.Sent(), images)
	}
}

// replaced demands that an object is replaced if and only if that is asked for.
func (t *tests) replaced() {
	if err := t.server.put(t.ctx, "old.csv", old, ""); err != nil {
		t.fail("%v", err)
	}
	at := t.home.object("old.csv")
	t.ends(73, "convert", t.raw(files[2]), t.raw(files[3]), "-o", at)
	if found, err := t.server.get("old.csv"); err != nil || !bytes.Equal(found, old) {
		t.fail("without --overwrite: found %d bytes, %v", len(found), err)
	}
	t.ends(0, "convert", t.raw(files[2]), t.raw(files[3]), "-o", at, "--overwrite")
	t.sameObject("--overwrite", "old.csv", t.local("mnist/test.csv"))
}

// failures demands the exit codes.
func (t *tests) failures() {
	s, in := t.home, t.raw(files[2])
	for _, c := range []struct {
		name string
		code int
		says string
		args []string
	}{
		{"no such object", 66, "not found", []string{"inspect", s.object("none")}},
		{"no such bucket", 66, "not found", []string{"inspect", s.in("none", "x")}},
		{"no such bucket for an output", 73, "bucket does not exist", []string{"convert", in, "-o", s.in("none", "x.npy")}},
		{"an output that exists", 73, "already exists", []string{"convert", in, "-o", s.object("out/train.parquet")}},
		{"a folder of images", 64, "one step", []string{"convert", t.raw(""), "-o", "png=" + s.object("png")}},
		{"many files", 64, "one step", []string{"convert", in, "-o", s.object("parts.parquet"), "--rows-per-file", "1000"}},
		{"a secret in a URL", 64, "credentials do not belong", []string{"inspect", s.object("x", "secret_key=x")}},
		{"--verify", 64, "afterwards", []string{"convert", in, "-o", s.object("v.parquet"), "--verify"}},
		{"--if-changed", 64, "leave out --if-changed", []string{"convert", in, "-o", s.object("v.parquet"), "--if-changed"}},
		{"an output that is an input", 73, "is an input", []string{"convert", s.object("mnist/" + files[2]), "-o", s.object("mnist/" + files[2]), "--overwrite"}},
	} {
		t.refuses(c.name, s, c.code, c.says, c.args...)
	}
	nobody := t.server.at(&url.URL{Scheme: "http", Host: "127.0.0.1:1"})
	t.refuses("nobody there", nobody, 74, "refused", "inspect", nobody.object("x", "stall=1s"))
	stranger := t.server.stranger()
	t.refuses("denied", stranger, 77, "access denied", "inspect", stranger.object("mnist/"))
	t.refuses("denied for an object", stranger, 77, "access denied", "inspect", stranger.object("mnist/"+files[0]))
	t.refuses("denied for an output", stranger, 77, "access denied", "convert", in, "-o", stranger.object("denied.npy"))
}

// refuses demands a code, and words that the program says.
func (t *tests) refuses(name string, p place, code int, says string, args ...string) {
	if r, ok := t.endsAt(p, code, args...); ok && !strings.Contains(r.output, says) {
		t.fail("%s: %q does not say %q", name, r.output, says)
	} else if ok {
		t.pass("%s: exit %d", name, code)
	}
}
