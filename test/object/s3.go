//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/idxport/idxport/test/object/proxy"
)

// gateway is the server for S3, pinned.
const gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// The key of the server, which the program finds in its environment as its users' do, and must not show.
const (
	accessKey = "AKIAIDXPORTTESTING00"
	secretKey = "not/a/real/secret/but/never/to/be/shown0"
)

// An s3Server keeps an object as the file of its name, which is how it is looked at without S3.
type s3Server struct {
	*process
	root   string
	client *s3.Client
}

func startS3(ctx context.Context, set settings, work string) (cloud, error) {
	address, err := free()
	if err != nil {
		return nil, err
	}
	if set.gateway == "" {
		if set.gateway, err = install(ctx, work, gateway); err != nil {
			return nil, err
		}
	}
	s := &s3Server{root: filepath.Join(work, "gateway")}
	if err := os.MkdirAll(s.root, 0o700); err != nil {
		return nil, err
	}
	key := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, nil
	})
	s.client = s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: aws.String("http://" + address), UsePathStyle: true, Credentials: key})
	c := exec.CommandContext(ctx, set.gateway, "--port", address, "--access", accessKey, "--secret", secretKey, "--quiet", "posix", s.root)
	s.process, err = launch(address, work, c, func() error {
		_, err := s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)})
		return err
	})
	return s, err
}

func (s *s3Server) at(u *url.URL) place {
	query := url.Values{"use_path_style": {"true"}, "endpoint": {u.String()}}
	return place{"s3", query, []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey,
		"AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null"}}
}

func (s *s3Server) stranger() *place {
	p := s.at(s.url)
	p.query.Set("anonymous", "true")
	return &p
}

func (s *s3Server) put(ctx context.Context, key string, text []byte, encoding string) error {
	in := &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), Body: bytes.NewReader(text)}
	if encoding != "" {
		in.ContentEncoding = aws.String(encoding)
	}
	_, err := s.client.PutObject(ctx, in)
	return err
}

func (s *s3Server) get(_ context.Context, key string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, bucket, filepath.FromSlash(key)))
}

// uploads are those in parts that are not ended, of keys that begin so, with how many parts each has.
func (s *s3Server) uploads(ctx context.Context, prefix string) (parts map[string]int, err error) {
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

func (s *s3Server) left(ctx context.Context, key string) (n int, err error) {
	parts, err := s.uploads(ctx, key)
	for _, some := range parts {
		n += some
	}
	return n, err
}

func (s *s3Server) clean(ctx context.Context, key string) error {
	parts, err := s.uploads(ctx, key)
	for id := range parts {
		_, abortErr := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String(key), UploadId: aws.String(id)})
		err = errors.Join(err, abortErr)
	}
	return err
}

func (s *s3Server) last(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func (s *s3Server) suits(f proxy.Fault, _ *http.Request) proxy.Fault { return f }
