//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// webQuery is a query that the program must send, and never show.
const webQuery = "?X-Amz-Signature=hunter2"

// web compares runs on files of a web server with local ones. (Faults in between are tested in
// package object.)
func (t *tests) web(site *website) {
	there := place{environ: []string{"SSL_CERT_FILE=" + site.certificate}}
	for _, path := range []string{"/files", "/whole", "/dated", "/get", "/moved", "secure"} {
		from := site.plain + path
		if path == "secure" {
			from = site.secure + "/files"
		}
		images, labels := webURL(from, files[0]), webURL(from, files[1])
		out := t.local("web.parquet")
		t.endsAt(there, 0, "convert", images, labels, "-o", out, "--overwrite")
		t.same("from "+from, out, t.local("fashion.parquet"))
		if _, ok := t.endsAt(there, 0, "verify", out, images, labels); ok {
			t.pass("verify from %s", from)
		}
	}
	t.webFailures(site, there)
}

// webURL returns the URL of a file of Fashion-MNIST, with a character that is escaped.
func webURL(from, name string) string {
	return from + "/fashion-mnist/" + strings.Replace(name, "-", "%2D", 1) + ".gz" + webQuery
}

// webFailures demands the exit codes of errors of TLS and of a real server. (TestWebErrors of
// cmd/idxport has others.)
func (t *tests) webFailures(site *website, there place) {
	nobody := "http://127.0.0.1:1/" + files[0] + webQuery
	name := "/fashion-mnist/" + files[0] + ".gz" + webQuery
	plain := strings.TrimPrefix(site.plain, "http")
	for _, c := range []struct {
		name string
		at   place
		code int
		says string
		url  string
	}{
		{"no such file by https", there, 66, "not found", site.secure + "/files/none" + webQuery},
		{"a list of files", there, 65, "HTML", site.secure + "/files/mnist" + webQuery},
		{"from https to http", there, 74, "redirects to http://", site.secure + "/lowered" + name},
		{"a certificate that is not trusted", place{}, 74, "not trusted", site.secure + "/files" + name},
		{"https from a server of http", there, 74, "server gave HTTP response", "https" + plain + "/files" + name},
		{"no server", there, 74, "refused", nobody},
	} {
		out := t.local("failed.npy")
		r, ok := t.endsAt(c.at, c.code, "convert", c.url, "-o", out)
		_, err := os.Lstat(out)
		said := strings.Contains(r.output, c.says) && !strings.Contains(r.output, "hunter2")
		if !errors.Is(err, fs.ErrNotExist) || ok && !said {
			t.fail("%s: found the output %v, and %q, expected %q", c.name, err, r.output, c.says)
		} else if ok {
			t.pass("%s: exit %d", c.name, c.code)
		}
	}
}
