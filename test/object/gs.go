//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/idxport/idxport/test/object/proxy"
)

// emulator is the server for Google Cloud Storage, pinned.
const emulator = "github.com/fsouza/fake-gcs-server@v1.56.1"

// A gsServer is reached by the JSON interface, without Google's kit.
type gsServer struct{ *process }

func startGS(ctx context.Context, set settings, work string) (cloud, error) {
	address, err := free()
	if err != nil {
		return nil, err
	}
	if set.emulator == "" {
		if set.emulator, err = install(ctx, work, emulator); err != nil {
			return nil, err
		}
	}
	host, port, _ := strings.Cut(address, ":")
	c := exec.CommandContext(ctx, set.emulator, "-scheme", "http", "-host", host, "-port", port, "-public-host", host,
		"-filesystem-root", filepath.Join(work, "google"), "-log-level", "error")
	s := &gsServer{}
	s.process, err = launch(address, work, c, func() error {
		made, err := http.Post("http://"+address+"/storage/v1/b?project=idxport", "application/json", strings.NewReader(`{"name": "`+bucket+`"}`))
		_, err = content(made, err)
		return err
	})
	return s, err
}

// content is the body of an answer that is no error.
func content(answer *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusNotFound:
		return nil, fs.ErrNotExist
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	}
	return text, nil
}

func (s *gsServer) at(u *url.URL) place {
	return place{"gs", nil, []string{"STORAGE_EMULATOR_HOST=" + u.Host}}
}

// stranger is nobody: the server has no rights.
func (s *gsServer) stranger() *place { return nil }

func (s *gsServer) put(ctx context.Context, key string, text []byte, encoding string) error {
	q := url.Values{"uploadType": {"media"}, "name": {key}}
	if encoding != "" {
		q.Set("contentEncoding", encoding)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String()+"/upload/storage/v1/b/"+bucket+"/o?"+q.Encode(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	_, err = content(http.DefaultClient.Do(r))
	return err
}

func (s *gsServer) get(ctx context.Context, key string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url.String()+"/storage/v1/b/"+bucket+"/o/"+url.PathEscape(key)+"?alt=media", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	return content(http.DefaultClient.Do(r))
}

// left is nothing: what is sent and not ended is Google's, and not listed.
func (s *gsServer) left(context.Context, string) (int, error) { return 0, nil }

func (s *gsServer) clean(context.Context, string) error { return nil }

// last is the piece of a session that tells how long the object is.
func (s *gsServer) last(r *http.Request) bool {
	_, size, known := strings.Cut(r.Header.Get("Content-Range"), "/")
	return known && size != "*"
}

// suits keeps the server from a piece that it already has: unlike Google it would append it a second time, whatever the range says.
func (s *gsServer) suits(f proxy.Fault, r *http.Request) proxy.Fault {
	piece := r.URL.Query().Has("upload_id") && !s.last(r)
	switch {
	case piece && (f == proxy.Lost || f == proxy.LostError):
		return proxy.Reset
	case piece && f == proxy.LostStall:
		return proxy.Stall
	}
	return f
}
