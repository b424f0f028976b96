//go:build linux

package main

import (
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// web reads from a web server by https, whose certificate SSL_CERT_FILE has, and demands the exit
// codes of errors of TLS. (cmd/idxport tests what is the same by http.)
func (t *tests) web() {
	served := http.FileServer(http.Dir(filepath.Join(t.data, "fashion-mnist")))
	plain, handler := httptest.NewServer(served), http.NewServeMux()
	defer plain.Close()
	handler.Handle("/", served)
	handler.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		list := strings.NewReader("<!DOCTYPE html>\n<title>Index of /</title>\n")
		http.ServeContent(w, r, "", time.Time{}, list)
	})
	handler.Handle("/lowered/", http.RedirectHandler(plain.URL, http.StatusFound))
	secure := httptest.NewTLSServer(handler)
	defer secure.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(t.local("certificate"), text, 0o600); err != nil {
		t.fail("%v", err)
	}
	there := place{environ: []string{"SSL_CERT_FILE=" + t.local("certificate")}}
	const query = "?X-Amz-Signature=hunter2" // must be sent, and never be shown
	images, labels := "/"+files[0]+".gz"+query, "/"+files[1]+".gz"+query
	t.endsAt(there, 0, "convert", secure.URL+images, secure.URL+labels, "-o", t.local("web.parquet"))
	t.same("by https", t.local("web.parquet"), t.local("fashion.parquet"))
	for _, c := range []struct {
		name string
		at   place
		code int
		says string
		url  string
	}{
		{"no such file by https", there, 66, "not found", secure.URL + "/none" + query},
		{"a list of files", there, 65, "HTML", secure.URL + "/list" + query},
		{"from https to http", there, 74, "redirects to http://", secure.URL + "/lowered" + images},
		{"a certificate that is not trusted", place{}, 74, "not trusted", secure.URL + images},
		{"https from a server of http", there, 74, "gave HTTP response", "https" + plain.URL[len("http"):] + images},
		{"no server", there, 74, "refused", "http://127.0.0.1:1" + images},
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
