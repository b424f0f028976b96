//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// module is the program of the server.
const module = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

const (
	region = "us-east-1" // that clients are configured with
	bucket = "idx"       // the only one of a server

	// The key of a server. Programs find it in their environment, and must not print it.
	accessKey = "AKIAIDXPORTTESTING00"
	secretKey = "not/a/real/secret/but/never/to/be/shown0"
)

// environment has the variables with which a program finds the key, and no other settings.
func environment() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_REGION": region,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull}
}

// install builds the server below the folder work, and returns its path.
func install(ctx context.Context, work string) (string, error) {
	bin := filepath.Join(work, "gobin")
	c := exec.CommandContext(ctx, "go", "install", module)
	c.Dir, c.Stderr = work, os.Stderr
	c.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-buildvcs=false -modcacherw")
	return filepath.Join(bin, "versitygw"), c.Run()
}

// A server is a running versitygw, a real S3 server. It keeps an object as a file of the same name,
// where tests look at it without S3.
type server struct {
	url     *url.URL
	root    string // the folder that has a folder for each bucket, and in it a file for each object
	client  *minio.Core
	process *exec.Cmd
}

// startServer starts a program, or installs the server first if that is empty, on a free port, with
// its objects and its log below the folder work, and waits until it has made the bucket.
func startServer(ctx context.Context, program, work string) (*server, error) {
	if program == "" {
		var err error
		if program, err = install(ctx, work); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	root := filepath.Join(work, "objects")
	if err := errors.Join(l.Close(), os.MkdirAll(root, 0o700)); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(work, "gateway.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has it
	s := &server{url: &url.URL{Scheme: "http", Host: address}, root: root}
	args := []string{"--port", address, "--access", accessKey, "--secret", secretKey, "--quiet", "posix", root}
	s.process = exec.CommandContext(ctx, program, args...)
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	options := &minio.Options{Region: region, Creds: credentials.NewStaticV4(accessKey, secretKey, "")}
	if s.client, err = minio.NewCore(address, options); err != nil {
		s.stop()
		return nil, err
	}
	for range 100 {
		if err = s.client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{}); err == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the server does not answer: %w\n%s", err, text)
}

// stop ends the server.
func (s *server) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
