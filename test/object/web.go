//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/idxport/idxport/test/object/proxy"
)

// webQuery is a query that the program must send, and never show.
const webQuery = "?X-Amz-Signature=hunter2"

// web compares runs on files of a web server with local ones, and disturbs some of them.
func (t *tests) web(site *website) {
	scratch := t.local("scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.fail("%v", err)
	}
	there := place{environ: []string{"SSL_CERT_FILE=" + site.certificate, "TMPDIR=" + scratch}}
	for _, from := range []string{site.plain + "/files", site.plain + "/whole", site.plain + "/dated", site.plain + "/get", site.plain + "/moved", site.secure + "/files"} {
		images, labels := webPair(from+"/fashion-mnist/", ".gz", files[:2])
		out := t.local("web.parquet")
		t.endsAt(there, 0, "convert", images, labels, "-o", out, "--overwrite")
		t.same("from "+from, out, t.local("fashion.parquet"))
		if _, ok := t.endsAt(there, 0, "verify", out, images, labels); ok {
			t.pass("verify from %s", from)
		}
	}
	t.webFailures(site, there)
	t.webFaults(site, there)
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.fail("scratch files are left: %v, %v", left, err)
	}
}

// webPair returns the URLs of two files in a folder, with a character that is escaped.
func webPair(folder, extension string, names []string) (images, labels string) {
	at := func(name string) string { return folder + strings.Replace(name, "-", "%2D", 1) + extension + webQuery }
	return at(names[0]), at(names[1])
}

// webFailures demands the exit codes of errors.
func (t *tests) webFailures(site *website, there place) {
	nobody := "http://127.0.0.1:1/" + files[0] + webQuery
	name := "/fashion-mnist/" + files[0] + ".gz" + webQuery
	for _, c := range []struct {
		name string
		at   place
		code int
		says string
		url  string
	}{
		{"no such file", there, 66, "not found", site.plain + "/files/none" + webQuery},
		{"no such file by https", there, 66, "not found", site.secure + "/files/none" + webQuery},
		{"denied", there, 77, "access denied", site.plain + "/denied" + name},
		{"a folder", there, 64, "name the files", site.plain + "/files/" + webQuery},
		{"a list of files", there, 65, "HTML", site.secure + "/files/mnist" + webQuery},
		{"from https to http", there, 74, "redirects to http://", site.secure + "/lowered" + name},
		{"a certificate that is not trusted", place{}, 74, "not trusted", site.secure + "/files" + name},
		{"https from a server of http", there, 74, "server gave HTTP response", strings.Replace(site.plain, "http", "https", 1) + "/files" + name},
		{"no server", there, 74, "refused", nobody},
	} {
		out := t.local("failed.npy")
		r, ok := t.endsAt(c.at, c.code, "convert", c.url, "-o", out)
		if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) || ok && (!strings.Contains(r.output, c.says) || strings.Contains(r.output, "hunter2")) {
			t.fail("%s: found the output %v, and %q, expected %q", c.name, err, r.output, c.says)
		} else if ok {
			t.pass("%s: exit %d", c.name, c.code)
		}
	}
}

// behind starts a proxy in front of the server.
func (w *website) behind(next func(*http.Request) proxy.Fault) (*proxy.Proxy, *httptest.Server) {
	target, err := url.Parse(w.plain)
	if err != nil {
		panic(err) // the URL is the website's own
	}
	p := &proxy.Proxy{Target: target, Next: next}
	return p, httptest.NewServer(p)
}

// A download is a conversion of files of a web server through faults.
type download struct {
	folder string      // whole: the server sends no parts
	fault  proxy.Fault // of the requests from the first on
	first  int64
	stays  bool // until the end, or only for one request
}

// downloads are the conversions of a run: the same for the same seed. Those with stalls, which take
// half a minute, come first.
func (t *tests) downloads() (all []download) {
	if t.rounds >= 10 {
		for _, folder := range []string{"files", "whole"} {
			all = append(all, download{folder, proxy.Stall, 1, false}, download{folder, proxy.StallBody, 2, false})
		}
	}
	random := rand.New(rand.NewPCG(t.seed, 1))
	faults := []proxy.Fault{proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Lost, proxy.LostError, proxy.Short, proxy.WrongRange, proxy.WrongETag, proxy.Denied403}
	for range t.rounds {
		d := download{[]string{"files", "whole"}[random.IntN(2)], faults[random.IntN(len(faults))], 1 + random.Int64N(5), random.IntN(3) == 0}
		if d.folder == "whole" {
			d.first = 1 + d.first%2
		}
		all = append(all, d)
	}
	return all
}

// webFaults makes all downloads, several at a time.
func (t *tests) webFaults(site *website, there place) {
	t.ends(0, "convert", t.packed(files[2]), t.packed(files[3]), "-o", t.local("web-expected.csv"))
	kinds := map[string]int{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	places := make(chan struct{}, t.at)
	for i, d := range t.downloads() {
		stalls := d.fault == proxy.Stall || d.fault == proxy.StallBody
		if !stalls { // the others only wait
			places <- struct{}{}
		}
		wait.Go(func() {
			outcome := t.download(site, there, d, t.local(fmt.Sprintf("web-%03d.csv", i)))
			mu.Lock()
			kinds[outcome]++
			mu.Unlock()
			if !stalls {
				<-places
			}
		})
	}
	wait.Wait()
	for outcome, n := range kinds {
		fmt.Printf("   %3d %s\n", n, outcome)
	}
}

// download makes one download, and returns how it ended: with the output that local files have, or,
// if the fault does not pass, with an error and no output.
func (t *tests) download(site *website, there place, d download, out string) string {
	var seen atomic.Int64
	p, front := site.behind(func(*http.Request) proxy.Fault {
		if n := seen.Add(1); n == d.first || d.stays && n > d.first {
			return d.fault
		}
		return proxy.None
	})
	defer func() { front.CloseClientConnections(); front.Close() }()
	images, labels := webPair(front.URL+"/"+d.folder+"/fashion-mnist/", ".gz", files[2:])
	r := t.run(there, nil, "convert", images, labels, "-o", out)
	kind := map[bool]string{true: "stays", false: "passes"}[d.stays]
	// A program that got the whole file in its first answer needs no other one.
	disturbed := p.Done()[d.fault] > 0 && (d.stays || d.fault == proxy.Denied403 || d.fault == proxy.WrongETag)
	harmless := d.fault == proxy.WrongRange || d.fault == proxy.WrongETag && d.folder == "whole" ||
		d.fault == proxy.Denied403 && d.first == 1 && !d.stays // it asked whether an input is a folder
	outcome := fmt.Sprintf("web, %s: %s, exit %d", d.folder, kind, r.code)
	if strings.Contains(r.output, "hunter2") || strings.Contains(r.output, "AWS") {
		t.fail("%+v: found %s", d, r.output)
	}
	switch _, err := os.Lstat(out); {
	case r.code == 0 && (!disturbed || harmless):
		t.same(fmt.Sprintf("%+v", d), out, filepath.Join(t.work, "local", "web-expected.csv"))
	case r.code == 0 || !errors.Is(err, fs.ErrNotExist):
		t.fail("%+v: %s, found an output: %s", d, outcome, r.output)
	case !disturbed, r.code != 74 && !(r.code == 77 && d.fault == proxy.Denied403):
		t.fail("%+v: %s, expected success or 74: %s", d, outcome, r.output)
	default:
		t.pass("%+v: exit %d", d, r.code)
	}
	return outcome
}
