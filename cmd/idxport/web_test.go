package main

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idxport/idxport/test/must"
)

// webNames are the training files of fashion.
var webNames = []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}

// website starts a web server with the files of fashion: below /etag/ with strong ETags, and below
// /plain/ with times only. All of it needs ?sig=hunter2, which must never be shown.
func website(t *testing.T) string {
	t.Helper()
	files := http.FileServer(http.Dir(fashion))
	serve := func(w http.ResponseWriter, r *http.Request) {
		_, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case r.URL.RawQuery != "sig=hunter2":
			http.Error(w, r.URL.String(), http.StatusForbidden)
			return
		case strings.HasPrefix(r.URL.Path, "/etag/"):
			w.Header().Set("ETag", `"`+name+`"`)
		}
		r.URL.Path = "/" + name
		files.ServeHTTP(w, r)
	}
	server := httptest.NewServer(http.HandlerFunc(serve))
	t.Cleanup(server.Close)
	return server.URL
}

// TestWebFilesAreAsFiles compares runs from a web server with runs on files.
func TestWebFilesAreAsFiles(t *testing.T) {
	t.Parallel()
	site, dir := website(t), t.TempDir()
	local := dir + "/local.parquet"
	succeed(t, "convert", filepath.Join(fashion, webNames[0]), filepath.Join(fashion, webNames[1]), "-o", local)
	quiet := func(args ...string) string {
		t.Helper()
		said := succeed(t, args...)
		if strings.Contains(said, "hunter2") {
			t.Errorf("%v: %s", args, said)
		}
		return said
	}
	for _, kind := range []string{"etag", "plain"} {
		in := make([]string, 2)
		for i, name := range webNames {
			in[i] = site + "/" + kind + "/" + strings.Replace(name, "-", "%2D", 1) + "?sig=hunter2"
		}
		out := filepath.Join(dir, kind+".parquet")
		quiet("convert", in[0], in[1], "-o", out)
		if !bytes.Equal(read(t, out), read(t, local)) {
			t.Errorf("%s: found another file than from local ones", kind)
		}
		quiet("convert", in[0], in[1], "-o", dir+"/"+kind+"/")
		if !bytes.Equal(read(t, filepath.Join(dir, kind, "train.parquet")), read(t, local)) {
			t.Errorf("%s: the output is not named after the split", kind)
		}
		quiet("verify", out, in[0], in[1])
		if said := quiet("inspect", in[0], in[1]); !strings.Contains(said, "train") {
			t.Errorf("inspect: found %s", said)
		}
		quiet("preview", in[0], in[1], "-o", filepath.Join(dir, kind+".png"))
	}
	stdout, _, code := runJSON("convert", site+"/etag/"+webNames[0]+"?sig=hunter2", "-o", dir+"/x.npy")
	etag := valueAt(follows(t, stdout, code, exitOK), "inputs/0/etag")
	if etag != `"`+webNames[0]+`"` || bytes.Contains(stdout, []byte("hunter2")) {
		t.Errorf("found the ETag %v in %s", etag, stdout)
	}
}

// TestWebClasses reads class names from a URL.
func TestWebClasses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names := strings.NewReader("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n")
		http.ServeContent(w, r, "", time.Time{}, names)
	}))
	t.Cleanup(server.Close)
	out := filepath.Join(t.TempDir(), "x.csv")
	said := succeed(t, "convert", filepath.Join(fashion, webNames[1]), "-o", out, "--class-column",
		"--classes", server.URL+"/names.txt?token=hunter2")
	if strings.Contains(said, "hunter2") || !bytes.Contains(read(t, out), []byte(",j\n")) {
		t.Errorf("found %s", said)
	}
}

// TestWebErrors: without success there is no output, and messages show no queries and passwords.
func TestWebErrors(t *testing.T) {
	t.Parallel()
	site, dir := website(t), t.TempDir()
	image := filepath.Join(fashion, webNames[0])
	at := func(path string) string { return site + path + "?sig=hunter2" }
	for name, c := range map[string]struct {
		code     int
		says     string
		in, args string // without an output in args, it is a file
	}{
		"no such file":       {66, "not found", at("/etag/none"), ""},
		"denied":             {77, "presigned", at("/etag/"+webNames[0]) + "x", ""},
		"a password":         {64, "password", "https://user:hunter2@example.org/x", ""},
		"a folder":           {64, "name each file", at("/etag/"), ""},
		"an output":          {64, "only be read", image, "convert -o " + at("/etag/x.npy")},
		"a folder as output": {64, "a file to read", image, "convert -o csv=" + at("/etag/")},
		"a sheet":            {64, "cannot write to a URL", image, "preview -o " + at("/etag/x.png")},
		"--if-changed":       {64, "--if-changed", at("/etag/" + webNames[0]), "convert --if-changed -o " + dir + "/x"},
		"a page":             {65, "", at("/etag/README.md"), ""},
	} {
		args := cmp.Or(c.args, "convert -o "+dir+"/x.npy")
		code, said := runProgram(append(strings.Fields(args), c.in)...)
		if code != c.code || !strings.Contains(said, c.says) || strings.Contains(said, "hunter2") ||
			strings.Contains(said, "AWS") {
			t.Errorf("%s: exit %d, expected %d and %q: %s", name, code, c.code, c.says, said)
		}
	}
	if left := must.Get(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("found %v, expected no output", left)
	}
}

// TestHTTPS reads from a server whose certificate SSL_CERT_FILE has.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the system alone knows which certificates are trusted")
	}
	site, dir, handler := website(t), t.TempDir(), http.NewServeMux()
	image, plain := "/"+webNames[0]+"?sig=hunter2", "/plain/"+webNames[0]+"?sig=hunter2"
	handler.Handle("/", http.FileServer(http.Dir(fashion)))
	handler.Handle("/lowered", http.RedirectHandler(site+plain, http.StatusFound))
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	trusted := "SSL_CERT_FILE=" + writeFile(t, t.TempDir(), "certificate", text)
	for name, c := range map[string]struct {
		code      int
		says      string
		env, from string
	}{
		"a file":                         {exitOK, "", trusted, server.URL + image},
		"from https to http":             {exitIO, "redirects to http://", trusted, server.URL + "/lowered"},
		"a certificate of nobody":        {exitIO, "not trusted", "HOME=" + dir, server.URL + image},
		"https from a server without it": {exitIO, "gave HTTP response", trusted, "https" + site[len("http"):] + plain},
	} {
		out := filepath.Join(dir, name+".npy")
		command := exec.Command("idxport", "convert", c.from, "-o", out)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), c.env}
		said, _ := command.CombinedOutput()
		code := command.ProcessState.ExitCode()
		_, err := os.Stat(out)
		if code != c.code || !strings.Contains(string(said), c.says) || bytes.Contains(said, []byte("hunter2")) ||
			(err == nil) != (code == exitOK) {
			t.Errorf("%s: exit %d, expected %d and %q: %s (the output: %v)", name, code, c.code, c.says, said, err)
		}
	}
	local := filepath.Join(t.TempDir(), "x.npy")
	succeed(t, "convert", filepath.Join(fashion, webNames[0]), "-o", local)
	if !bytes.Equal(read(t, filepath.Join(dir, "a file.npy")), read(t, local)) {
		t.Error("found another file than from a local one")
	}
}

// TestWebProxy reads through the proxy of the environment, whose password is not shown.
func TestWebProxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Host != "files.example.test" || r.Header.Get("Proxy-Authorization") == "" {
			http.Error(w, r.URL.String(), http.StatusBadRequest)
			return
		}
		http.ServeFile(w, r, filepath.Join(fashion, filepath.Base(r.URL.Path)))
	}))
	t.Cleanup(proxy.Close)
	dir := t.TempDir()
	for path, expected := range map[string]int{webNames[0]: 0, "none": exitNoInput} {
		command := exec.Command("idxport", "convert", "http://files.example.test/"+path, "-o", dir+"/x.npy")
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
			"HTTP_PROXY=" + strings.Replace(proxy.URL, "//", "//user:hunter2@", 1)}
		said, _ := command.CombinedOutput()
		code := command.ProcessState.ExitCode()
		if code != expected || asked.Load() == 0 || bytes.Contains(said, []byte("hunter2")) {
			t.Errorf("%s: exit %d after %d requests, expected %d: %s", path, code, asked.Load(), expected, said)
		}
	}
}
