//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/idxport/idxport/test/object/proxy"
)

// at returns the place with another URL, such as that of a proxy.
func (s *server) at(u *url.URL) place {
	query := url.Values{"use_path_style": {"true"}, "endpoint": {u.String()}}
	var environ []string
	for name, value := range environment() {
		environ = append(environ, name+"="+value)
	}
	return place{query, environ}
}

// put stores an object as users' programs do. encoding is its Content-Encoding: gzip or empty.
func (s *server) put(ctx context.Context, key string, text []byte, encoding string) error {
	options := minio.PutObjectOptions{ContentEncoding: encoding}
	_, err := s.client.Client.PutObject(ctx, bucket, key, bytes.NewReader(text), int64(len(text)), options)
	return err
}

// get reads an object without S3; the error is fs.ErrNotExist if there is none.
func (s *server) get(key string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, bucket, filepath.FromSlash(key)))
}

// uploads are the multipart uploads that are not completed, of keys with the prefix, with their
// numbers of parts.
func (s *server) uploads(ctx context.Context, prefix string) (parts map[string]int, err error) {
	list, err := s.client.ListMultipartUploads(ctx, bucket, prefix, "", "", "", 0)
	if err != nil {
		return nil, err
	}
	parts = map[string]int{}
	for _, u := range list.Uploads {
		found, err := s.client.ListObjectParts(ctx, bucket, u.Key, u.UploadID, 0, 0)
		if err != nil {
			return nil, err
		}
		parts[u.UploadID] = len(found.ObjectParts)
	}
	return parts, nil
}

// left is the number of parts of uploads of a key that are not completed.
func (s *server) left(ctx context.Context, key string) (n int, err error) {
	parts, err := s.uploads(ctx, key)
	for _, some := range parts {
		n += some
	}
	return n, err
}

// clean aborts the uploads of a key, as a lifecycle rule does.
func (s *server) clean(ctx context.Context, key string) error {
	parts, err := s.uploads(ctx, key)
	for id := range parts {
		err = errors.Join(err, s.client.AbortMultipartUpload(ctx, bucket, key, id))
	}
	return err
}

// isLast reports whether a request is the one that makes an object visible.
func isLast(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

// A place is a server and the settings by which the program reaches it.
type place struct {
	query   url.Values
	environ []string
}

// object is the URL of an object, with more parameters: name=value.
func (p place) object(key string, more ...string) string {
	return p.in(bucket, key, more...)
}

// in is the URL of an object in any bucket.
func (p place) in(bucket, key string, more ...string) string {
	return "s3://" + bucket + "/" + key + "?" + strings.Join(append(slices.Clone(more), p.query.Encode()), "&")
}

// environment is that of the program: the variables of the place, and those of this process without
// settings of AWS and proxies.
func (p place) environment() []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "AWS_") && !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			env = append(env, e)
		}
	}
	return append(env, p.environ...)
}

// behind starts a proxy in front of the server.
func behind(s *server, next func(*http.Request) proxy.Fault) (*httptest.Server, place) {
	front := httptest.NewServer(&proxy.Proxy{Target: s.url, Next: next})
	return front, s.at(&url.URL{Scheme: "http", Host: front.Listener.Addr().String()})
}
