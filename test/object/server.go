//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/idxport/idxport/test/object/proxy"
)

// bucket is the only one.
const bucket = "idx"

// A store is the running server.
type store struct {
	root    string // where objects are files
	url     *url.URL
	process *exec.Cmd
	client  *s3.Client
}

// start starts the server on a port that is free, and waits until it answers.
func start(ctx context.Context, server, work string) (*store, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	root := filepath.Join(work, "gateway")
	if err := errors.Join(l.Close(), os.MkdirAll(root, 0o700)); err != nil {
		return nil, err
	}
	s := &store{root: root, url: &url.URL{Scheme: "http", Host: address}}
	s.process = exec.CommandContext(ctx, server, "--port", address, "--access", accessKey, "--secret", secretKey, "--quiet", "posix", root)
	log, err := os.Create(filepath.Join(work, "gateway.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has it
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	key := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, nil
	})
	s.client = s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.url.String()), UsePathStyle: true, Credentials: key})
	for range 100 {
		if _, err = s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)}); err == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the server does not answer: %w\n%s", err, text)
}

func (s *store) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// put stores an object by the kit of Amazon, as users' programs do.
func (s *store) put(ctx context.Context, key, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), Body: bytes.NewReader(text)})
	return err
}

// file is where the server keeps the object.
func (s *store) file(key string) string {
	return filepath.Join(s.root, bucket, filepath.FromSlash(key))
}

// left are the uploads in parts that are not ended, of keys that begin so, with how many parts each has.
func (s *store) left(ctx context.Context, prefix string) (parts map[string]int, err error) {
	out, err := s.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket), Prefix: aws.String(prefix)})
	if err != nil {
		return nil, err
	}
	parts = map[string]int{}
	for _, u := range out.Uploads {
		list, err := s.client.ListParts(ctx, &s3.ListPartsInput{Bucket: aws.String(bucket), Key: u.Key, UploadId: u.UploadId})
		if err != nil {
			return nil, err
		}
		parts[*u.UploadId] = len(list.Parts)
	}
	return parts, nil
}

// clean does what a lifecycle rule does: it ends uploads that nobody will end.
func (s *store) clean(ctx context.Context, key string) error {
	parts, err := s.left(ctx, key)
	for id := range parts {
		_, abortErr := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String(key), UploadId: aws.String(id)})
		err = errors.Join(err, abortErr)
	}
	return err
}

// query is what follows URLs of objects that are reached at an address.
func query(at, more string) string {
	return "?use_path_style=true&endpoint=" + url.QueryEscape(at) + more
}

// object is the URL of an object on the server itself.
func (s *store) object(key string) string {
	return "s3://" + bucket + "/" + key + query(s.url.String(), "")
}

// behind starts a proxy before the server.
func (s *store) behind(next func(*http.Request) proxy.Fault) (*proxy.Proxy, *httptest.Server) {
	p := &proxy.Proxy{Target: s.url, Next: next}
	return p, httptest.NewServer(p)
}
