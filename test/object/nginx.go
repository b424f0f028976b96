//go:build linux

package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A website is a running nginx, which serves the folder of data below several paths.
type website struct {
	plain, secure string // URLs without a path: http and https
	certificate   string // path of the file that programs must trust
	process       *exec.Cmd
}

// nginxConfig serves data in different ways. Its arguments are the working folder, the ports for
// http and https, and the folder of data.
const nginxConfig = `daemon off;
master_process off;
pid %[1]s/pid;
error_log stderr crit;
events {}
http {
	access_log off;
	default_type application/octet-stream;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	gzip on; # for clients that accept it
	gzip_types *;
	server {
		listen 127.0.0.1:%[2]d;
		listen 127.0.0.1:%[3]d ssl;
		ssl_certificate %[1]s/certificate;
		ssl_certificate_key %[1]s/key;
		location /files/ { alias "%[4]s/"; autoindex on; }
		location /whole/ { alias "%[4]s/"; max_ranges 0; }
		location /dated/ { alias "%[4]s/"; etag off; }
		location /get/ { if ($request_method = HEAD) { return 405; } rewrite ^/get/(.*)$ /files/$1; }
		location /moved/ { absolute_redirect off; rewrite ^/moved/(.*)$ /files/$1 redirect; }
		location /lowered/ { return 302 http://127.0.0.1:%[2]d/files/; }
		location /denied/ { deny all; }
	}
}
`

// findNginx returns the path of nginx. If it is not installed, the package of the distribution is
// unpacked below the folder work.
func findNginx(ctx context.Context, work string) (string, error) {
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	const script = "apt-get download nginx >&2 && dpkg-deb -x nginx_*.deb ."
	c := exec.CommandContext(ctx, "sh", "-c", script)
	c.Dir, c.Stderr = work, os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("nginx is not installed, and %s failed: %w", script, err)
	}
	return filepath.Join(work, "usr", "sbin", "nginx"), nil
}

// startWebsite starts the program nginx, or the one of the distribution if that is empty, and waits
// for its answer.
func startWebsite(ctx context.Context, nginx, work, data string) (w *website, err error) {
	work = filepath.Join(work, "nginx")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	if nginx == "" {
		if nginx, err = findNginx(ctx, work); err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	config := fmt.Appendf(nil, nginxConfig, work, ports[0], ports[1], data)
	conf := filepath.Join(work, "conf")
	if err := errors.Join(writeCertificate(work), os.WriteFile(conf, config, 0o600)); err != nil {
		return nil, err
	}
	w = &website{certificate: filepath.Join(work, "certificate")}
	w.plain, w.secure = fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("https://127.0.0.1:%d", ports[1])
	w.process = exec.CommandContext(ctx, nginx, "-c", conf, "-e", "stderr", "-p", work)
	w.process.Stderr = os.Stderr
	if err := w.process.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if answer, err := http.Get(w.plain + "/files/"); err == nil {
			return w, answer.Body.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.stop()
	return nil, errors.New("nginx does not answer")
}

// freePorts returns n different ports of this machine that nobody listens to.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all at the end, as the ports must differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (w *website) stop() {
	_ = w.process.Process.Kill()
	_ = w.process.Wait()
}

// writeCertificate writes the certificate of httptest, which is for this machine and signed by
// itself, and its key.
func writeCertificate(dir string) error {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return err
	}
	write := func(name, kind string, text []byte) error {
		return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}), 0o600)
	}
	return errors.Join(write("certificate", "CERTIFICATE", pair.Certificate[0]), write("key", "PRIVATE KEY", private))
}
