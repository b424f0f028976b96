package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Module is the program of the server.
const Module = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// Region is the region that clients are configured with.
const Region = "us-east-1"

// Bucket is the only bucket of a server.
const Bucket = "idx"

// The key of a server. Programs find it in their environment, and must not print it.
const (
	AccessKey = "AKIAIDXPORTTESTING00"
	SecretKey = "not/a/real/secret/but/never/to/be/shown0"
)

// Environment has the variables with which a program finds the key, and no other settings.
func Environment() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey, "AWS_REGION": Region,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull}
}

// install builds the server below the folder work, and returns its path.
func install(ctx context.Context, work string) (string, error) {
	bin := filepath.Join(work, "gobin")
	c := exec.CommandContext(ctx, "go", "install", Module)
	c.Dir, c.Stderr = work, os.Stderr
	c.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-buildvcs=false -modcacherw")
	return filepath.Join(bin, "versitygw"), c.Run()
}

// A Server is a running server. Stop ends it.
type Server struct {
	Endpoint string // its URL
	Root     string // the folder that has a folder for each bucket, and in it a file for each object
	Client   *minio.Core
	process  *exec.Cmd
}

// Start starts the program server, or installs it first if that is empty, on a free port, with its
// objects and its log below the folder work, and waits until it has made the bucket.
func Start(ctx context.Context, server, work string) (*Server, error) {
	if server == "" {
		var err error
		if server, err = install(ctx, work); err != nil {
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
	s := &Server{Endpoint: "http://" + address, Root: root}
	s.process = exec.CommandContext(ctx, server, "--port", address, "--access", AccessKey, "--secret", SecretKey, "--quiet", "posix", root)
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	if s.Client, err = minio.NewCore(address, &minio.Options{Region: Region, Creds: credentials.NewStaticV4(AccessKey, SecretKey, "")}); err != nil {
		s.Stop()
		return nil, err
	}
	for range 100 {
		if err = s.Client.MakeBucket(ctx, Bucket, minio.MakeBucketOptions{}); err == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.Stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the server does not answer: %w\n%s", err, text)
}

// Stop ends the server.
func (s *Server) Stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
