//go:build !lean

package object

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/idxport/idxport/test/object/fake"
	"github.com/idxport/idxport/test/object/proxy"
)

// serve starts a fake server behind a proxy. The string is the parameters of a URL for it.
func serve(t *testing.T, next func(*http.Request) proxy.Fault) (f *fake.Server, p *proxy.Proxy, query string) {
	t.Helper()
	f = fake.New()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy.Proxy{Target: target, Next: next}
	front := httptest.NewUnstartedServer(p)
	front.Config.ErrorLog = nil
	front.Start()
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	return f, p, "?anonymous=true&use_path_style=true&endpoint=" + url.QueryEscape(front.URL)
}

// TestMain makes the pauses between attempts short: here and in minio-go.
func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 20*time.Millisecond
	maxPause = minio.DefaultRetryCap
	m.Run()
}
