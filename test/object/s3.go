//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/idxport/idxport/test/object/gateway"
	"github.com/idxport/idxport/test/object/proxy"
)

// The key of the server, which the program finds in its environment as its users' do, and must not show.
const (
	accessKey = "AKIAIDXPORTTESTING00"
	secretKey = "not/a/real/secret/but/never/to/be/shown0"
)

// An s3Server keeps an object as the file of its name, which is how it is looked at without S3.
type s3Server struct{ *gateway.Server }

func startS3(ctx context.Context, set settings, work string) (_ cloud, err error) {
	if set.gateway == "" {
		fmt.Println("installing", gateway.Module)
		if set.gateway, err = gateway.Install(ctx, work); err != nil {
			return nil, err
		}
	}
	s, err := gateway.Start(ctx, set.gateway, work, bucket, aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey})
	if err != nil {
		return nil, err
	}
	return &s3Server{s}, nil
}

func (s *s3Server) home() *url.URL {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		panic(err) // the URL is the server's own
	}
	return u
}

func (s *s3Server) stop() { s.Stop() }

func (s *s3Server) at(u *url.URL) place {
	query := url.Values{"use_path_style": {"true"}, "endpoint": {u.String()}}
	return place{"s3", query, []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey,
		"AWS_REGION=" + gateway.Region, "AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null"}}
}

func (s *s3Server) stranger() *place {
	p := s.at(s.home())
	p.query.Set("anonymous", "true")
	return &p
}

func (s *s3Server) put(ctx context.Context, key string, text []byte, encoding string) error {
	in := &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), Body: bytes.NewReader(text)}
	if encoding != "" {
		in.ContentEncoding = aws.String(encoding)
	}
	_, err := s.Client.PutObject(ctx, in)
	return err
}

func (s *s3Server) get(_ context.Context, key string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.Root, bucket, filepath.FromSlash(key)))
}

// uploads are those in parts that are not ended, of keys that begin so, with how many parts each has.
func (s *s3Server) uploads(ctx context.Context, prefix string) (parts map[string]int, err error) {
	out, err := s.Client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket), Prefix: aws.String(prefix)})
	if err != nil {
		return nil, err
	}
	parts = map[string]int{}
	for _, u := range out.Uploads {
		list, err := s.Client.ListParts(ctx, &s3.ListPartsInput{Bucket: aws.String(bucket), Key: u.Key, UploadId: u.UploadId})
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
		_, abortErr := s.Client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String(key), UploadId: aws.String(id)})
		err = errors.Join(err, abortErr)
	}
	return err
}

func (s *s3Server) last(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func (s *s3Server) suits(f proxy.Fault, _ *http.Request) proxy.Fault { return f }
