//go:build !lean

package object

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// connect opens a bucket of S3, or of a server like it.
func connect(ctx context.Context, name string, query url.Values, o Options) (client, error) {
	s, err := newS3Client(ctx, name, query, o)
	if err != nil {
		return client{}, err
	}
	return client{s.head, s.read, s.list, s.hasBucket, s.put, s.remove, s.begin, s.send, s.finish, s.abort, s.parts, s.uploads}, nil
}

func newS3Client(ctx context.Context, name string, query url.Values, o Options) (*s3Client, error) {
	e := readEnvironment(query)
	s := &s3Client{name: name, patience: o, endpoint: e.endpoint(), follow: !query.Has("region"),
		checksums: e.whenSupported("request_checksum_calculation"), validate: e.whenSupported("response_checksum_validation")}
	_, err := netip.ParseAddr(s.endpoint.Hostname())
	if s.lookup = minio.BucketLookupDNS; e.isTrue("use_path_style") || err == nil || strings.ContainsFunc(name, notHost) {
		s.lookup = minio.BucketLookupPath
	}
	anonymous, transport := e.isTrue("anonymous"), e.transport()
	if e.err != nil {
		return nil, e.err
	}
	s.transport, s.keys = recorder{transport}, credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	if !anonymous {
		s.keys = credentials.New(&keyProvider{environment: e, client: &http.Client{Transport: transport}})
		err := o.retry(ctx, func() error {
			_, err := s.keys.GetWithContext(&credentials.CredContext{Context: ctx})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, s.in(e.region())
}

// notHost reports whether a character makes a bucket's name one that is no name of a host, or not of
// one that a certificate for all buckets is good for.
func notHost(r rune) bool { return r == '.' || r == '_' || r >= 'A' && r <= 'Z' }
