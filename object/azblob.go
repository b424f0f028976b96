//go:build azblob && !lean

package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azb "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/idxport/idxport/fault"
)

const azblobHint = "check AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_CONNECTION_STRING or az login, and what you may"

// openAzblob opens a container of Azure Blob Storage.
func openAzblob(ctx context.Context, name string, q url.Values) (bucket, error) {
	service, err := azblobService(q)
	if err != nil {
		return nil, err
	}
	client, err := azblobClient(service, name)
	if err != nil {
		return nil, &failure{kind: ErrDenied, text: "the credentials cannot be used", hint: azblobHint}
	}
	b, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return nil, azblobFailure(err)
	}
	writer := func(ctx context.Context, key string, o *blob.WriterOptions) (io.WriteCloser, error) {
		return newPipedWriter(ctx, b, key, o), nil
	}
	return &kit{bucket: b, demand: demandBlob, check: checkBlob, failure: azblobFailure, writer: writer, deliver: azblobDeliver}, nil
}

// azblobService says where the container is, by the environment and the parameters of its URL.
func azblobService(q url.Values) (*azureblob.ServiceURLOptions, error) {
	o := azureblob.NewDefaultServiceURLOptions()
	if o.SASToken != "" && (q.Has("domain") || q.Has("protocol") || q.Has("localemu")) {
		return nil, &failure{kind: ErrURL, text: "with AZURE_STORAGE_SAS_TOKEN no parameter may name the server, which would get the token",
			hint: "name it by AZURE_STORAGE_DOMAIN and AZURE_STORAGE_PROTOCOL"}
	}
	o.AccountName = cmp.Or(q.Get("storage_account"), o.AccountName)
	o.StorageDomain = cmp.Or(q.Get("domain"), o.StorageDomain)
	o.Protocol = cmp.Or(q.Get("protocol"), o.Protocol)
	if q.Has("localemu") {
		emulator, err := strconv.ParseBool(q.Get("localemu"))
		if err != nil {
			return nil, &failure{kind: ErrURL, text: "the parameter localemu is neither true nor false"}
		}
		o.IsLocalEmulator = emulator
	}
	if o.AccountName == "" {
		return nil, &failure{kind: ErrURL, text: "the storage account is not known", hint: "name it: ?storage_account=NAME, or AZURE_STORAGE_ACCOUNT"}
	}
	return o, nil
}

// azblobClient finds the credentials where the Go CDK does: a key, a token, a connection string, or else those that Azure's own programs find.
func azblobClient(service *azureblob.ServiceURLOptions, name string) (*container.Client, error) {
	root, err := azureblob.NewServiceURL(service)
	if err != nil {
		return nil, err
	}
	at, err := url.JoinPath(string(root), name)
	if err != nil {
		return nil, err
	}
	// Compressed answers would be unpacked, and with them what was uploaded as Content-Encoding: gzip.
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: depth,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
	o := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: patientTransport{transport}},
		Retry:     policy.RetryOptions{MaxRetries: -1}, // none: whoever makes a request repeats it
	}}
	connection := cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING"))
	switch key := os.Getenv("AZURE_STORAGE_KEY"); {
	case key != "":
		credential, err := azblob.NewSharedKeyCredential(service.AccountName, key)
		if err != nil {
			return nil, err
		}
		return container.NewClientWithSharedKeyCredential(at, credential, o)
	case service.SASToken != "":
		return container.NewClientWithNoCredential(at, o)
	case connection != "":
		return container.NewClientFromConnectionString(connection, name, o)
	}
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, credential, o)
}

// demandBlob makes a request that is refused if the object is another.
func demandBlob(version identity, as func(any) bool) {
	var options *azblob.DownloadStreamOptions
	if version.etag != "" && as(&options) {
		etag := azcore.ETag(version.etag)
		options.AccessConditions = &azb.AccessConditions{ModifiedAccessConditions: &azb.ModifiedAccessConditions{IfMatch: &etag}}
	}
}

// checkBlob compares what the answer says of itself with what was asked for.
func checkBlob(version identity, offset, n int64, r *blob.Reader) error {
	var answer azb.DownloadStreamResponse
	if !r.As(&answer) {
		return nil
	}
	if answer.ETag != nil && string(*answer.ETag) != version.etag || r.Size() != version.size {
		return &failure{kind: fault.Changed}
	}
	whole := offset == 0 && n == version.size && answer.ContentRange == nil
	if want := fmt.Sprintf("bytes %d-%d/", offset, offset+n-1); !whole && (answer.ContentRange == nil || !strings.HasPrefix(*answer.ContentRange, want)) {
		return &failure{kind: ErrTransfer, text: "the server did not send the range that was asked for", again: true}
	}
	return nil
}

// azblobDeliver makes uploads as patient as reads are. Azure keeps no MD5 of an object that was sent in blocks unless it is told.
func azblobDeliver(ctx context.Context, d *delivery) (context.Context, func(as func(any) bool)) {
	ctx = policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: int32(d.options.Attempts - 1), RetryDelay: d.options.Pause, MaxRetryDelay: longestPause,
		ShouldRetry: func(answer *http.Response, err error) bool {
			switch {
			case err != nil:
				return d.repeats(azblobFailure(err))
			case answer.StatusCode >= http.StatusBadRequest:
				return d.repeats(answerFailure("", answer.StatusCode, ""))
			}
			return false
		}})
	return ctx, func(as func(any) bool) {
		var options *azblob.UploadStreamOptions
		if as(&options) {
			d.sum = &options.HTTPHeaders.BlobContentMD5
		}
	}
}

// A pipedWriter is an upload that reads from a pipe. The Go CDK's own writer for Azure panics in Close when the upload has failed (v0.47.0).
type pipedWriter struct {
	*io.PipeWriter
	done chan struct{} // closed when err is set
	err  error
}

func newPipedWriter(ctx context.Context, b *blob.Bucket, key string, o *blob.WriterOptions) *pipedWriter {
	r, w := io.Pipe()
	p := &pipedWriter{PipeWriter: w, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = b.Upload(ctx, key, r, o)
		_ = r.CloseWithError(cmp.Or(p.err, io.ErrClosedPipe)) // it never fails
	}()
	return p
}

// Close tells that all is written, and waits until it is there or has failed.
func (p *pipedWriter) Close() error {
	_ = p.PipeWriter.Close() // it never fails
	<-p.done
	return p.err
}

// azblobFailure is what an error of Azure Blob Storage means.
func azblobFailure(err error) error {
	var answer *azcore.ResponseError
	var unknown interface {
		error
		NonRetriable()
	}
	switch {
	case errors.As(err, &answer):
	case errors.As(err, &unknown): // the error of credentials, not of a request for an object
		return &failure{kind: ErrDenied, text: "no credentials found, or they were refused", hint: azblobHint}
	default:
		return silence(err, "check the storage account, or ?storage_account=, and ?domain=")
	}
	switch code := answer.ErrorCode; code {
	case string(bloberror.ContainerNotFound):
		return &failure{kind: ErrNotFound, text: "there is no such container"}
	case string(bloberror.BlobAlreadyExists):
		return &failure{kind: ErrExists}
	case "PublicAccessNotPermitted": // status 409
		return &failure{kind: ErrDenied, text: code, hint: azblobHint}
	}
	return answerFailure(answer.ErrorCode, answer.StatusCode, azblobHint)
}
