//go:build gs && !lean

package object

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/idxport/idxport/fault"
)

// gsEmulator is the variable by which Google's programs are told of a server that takes the place of theirs: host:port, or a URL.
const gsEmulator = "STORAGE_EMULATOR_HOST"

const gsHint = "check GOOGLE_APPLICATION_CREDENTIALS or gcloud auth application-default login, or say ?anonymous=true for public buckets"

// openGS opens a bucket of Google Cloud Storage.
func openGS(ctx context.Context, name string, q url.Values) (bucket, error) {
	anonymous, err := strconv.ParseBool(q.Get("anonymous"))
	if q.Has("anonymous") && err != nil {
		return nil, &failure{kind: ErrURL, text: "the parameter anonymous is neither true nor false"}
	}
	client, err := gsClient(ctx, anonymous || os.Getenv(gsEmulator) != "")
	if err != nil {
		return nil, err
	}
	client.SetRetry(storage.WithPolicy(storage.RetryNever))
	b, err := gcsblob.OpenBucket(ctx, nil, name, &gcsblob.Options{Client: client})
	if err != nil {
		return nil, gsFailure(err)
	}
	return &kit{bucket: b, tag: gsGeneration, demand: demandGeneration, check: checkGeneration, failure: gsFailure, deliver: gsDeliver}, nil
}

// gsClient finds the credentials where Google's own programs do.
func gsClient(ctx context.Context, anonymous bool) (*storage.Client, error) {
	transport := patientTransport{gcp.DefaultTransport()}
	options := []option.ClientOption{option.WithHTTPClient(&http.Client{Transport: transport})}
	if !anonymous {
		credentials, err := gcp.DefaultCredentials(ctx)
		if err == nil {
			_, err = credentials.TokenSource.Token()
		}
		if err != nil {
			return nil, &failure{kind: ErrDenied, text: "no credentials found", hint: gsHint}
		}
		client, err := gcp.NewHTTPClient(transport, credentials.TokenSource)
		if err != nil {
			return nil, gsFailure(err)
		}
		domain, err := credentials.GetUniverseDomain()
		if err != nil {
			return nil, gsFailure(err)
		}
		options = []option.ClientOption{option.WithHTTPClient(&client.Client), option.WithUniverseDomain(domain)}
	}
	client, err := storage.NewClient(ctx, options...)
	if err != nil {
		return nil, gsFailure(err)
	}
	return client, nil
}

// gsGeneration is what Google calls a version of an object: a number.
func gsGeneration(a *blob.Attributes) string {
	var attrs storage.ObjectAttrs
	if a.As(&attrs) {
		return strconv.FormatInt(attrs.Generation, 10)
	}
	return ""
}

// demandGeneration makes a request that is refused if the object is another, and for the bytes as they are stored: Google would unpack those
// that were uploaded as Content-Encoding: gzip, and then has no ranges.
func demandGeneration(version identity, as func(any) bool) {
	var handle **storage.ObjectHandle
	generation, err := strconv.ParseInt(version.etag, 10, 64)
	if err == nil && as(&handle) {
		*handle = (*handle).If(storage.Conditions{GenerationMatch: generation}).ReadCompressed(true)
	}
}

// checkGeneration compares what the answer says of itself with what was asked for. Its time is of no use: that of an answer has no fractions of a second.
func checkGeneration(version identity, offset, _ int64, r *blob.Reader) error {
	var answer *storage.Reader
	if !r.As(&answer) {
		return nil
	}
	found := strconv.FormatInt(answer.Attrs.Generation, 10)
	if answer.Attrs.Generation > 0 && found != version.etag || r.Size() != version.size {
		return &failure{kind: fault.Changed}
	}
	if answer.Attrs.StartOffset != offset {
		return &failure{kind: ErrTransfer, text: "the server did not send the range that was asked for", again: true}
	}
	return nil
}

// gsDeliver makes uploads as patient as reads are. They may always be repeated: the bytes are the same, and only their last request makes them seen.
func gsDeliver(ctx context.Context, d *delivery) (context.Context, func(as func(any) bool)) {
	var failed atomic.Int64 // requests in a row
	return ctx, func(as func(any) bool) {
		var handle **storage.ObjectHandle
		if as(&handle) {
			*handle = (*handle).Retryer(storage.WithPolicy(storage.RetryAlways), storage.WithErrorFunc(func(err error) bool {
				return err != nil && d.repeats(gsFailure(err)) && failed.Add(1) < int64(d.options.Attempts)
			}))
		}
		var w *storage.Writer
		if as(&w) {
			w.ProgressFunc = func(int64) { failed.Store(0) }
			w.ChunkRetryDeadline = time.Duration(d.options.Attempts) * (d.options.Stall + longestPause) // the attempts are counted
		}
	}
}

// gsFailure is what an error of Google's storage means.
func gsFailure(err error) error {
	var answer *googleapi.Error
	switch {
	case errors.Is(err, storage.ErrBucketNotExist):
		return &failure{kind: ErrNotFound, text: "there is no such bucket"}
	case errors.Is(err, storage.ErrObjectNotExist):
		return &failure{kind: ErrNotFound}
	case !errors.As(err, &answer):
		return silence(err, "check STORAGE_EMULATOR_HOST")
	}
	code := ""
	if len(answer.Errors) > 0 {
		code = answer.Errors[0].Reason
	}
	return answerFailure(code, answer.Code, gsHint)
}
