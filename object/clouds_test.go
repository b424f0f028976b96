//go:build gs && azblob && !lean

package object

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"google.golang.org/api/googleapi"

	"github.com/idxport/idxport/fault"
)

// TestAnswersOfClouds holds what their documentation says of the codes.
func TestAnswersOfClouds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		found, kind error
		again       bool
	}{
		"gs, no object":             {gsFailure(storage.ErrObjectNotExist), ErrNotFound, false},
		"gs, no bucket":             {gsFailure(storage.ErrBucketNotExist), ErrNotFound, false},
		"gs, 401":                   {gsFailure(&googleapi.Error{Code: 401}), ErrDenied, false},
		"gs, 403":                   {gsFailure(&googleapi.Error{Code: 403}), ErrDenied, false},
		"gs, 404":                   {gsFailure(&googleapi.Error{Code: 404}), ErrNotFound, false},
		"gs, another generation":    {gsFailure(&googleapi.Error{Code: 412}), ErrExists, false},
		"gs, beyond the end":        {gsFailure(&googleapi.Error{Code: 416}), fault.Changed, false},
		"gs, 429":                   {gsFailure(&googleapi.Error{Code: 429}), ErrTransfer, true},
		"gs, 503":                   {gsFailure(&googleapi.Error{Code: 503}), ErrTransfer, true},
		"gs, 400":                   {gsFailure(&googleapi.Error{Code: 400}), ErrTransfer, false},
		"azblob, no blob":           {azblobFailure(&azcore.ResponseError{StatusCode: 404, ErrorCode: "BlobNotFound"}), ErrNotFound, false},
		"azblob, no container":      {azblobFailure(&azcore.ResponseError{StatusCode: 404, ErrorCode: "ContainerNotFound"}), ErrNotFound, false},
		"azblob, there":             {azblobFailure(&azcore.ResponseError{StatusCode: 409, ErrorCode: "BlobAlreadyExists"}), ErrExists, false},
		"azblob, another ETag":      {azblobFailure(&azcore.ResponseError{StatusCode: 412, ErrorCode: "ConditionNotMet"}), ErrExists, false},
		"azblob, bad key":           {azblobFailure(&azcore.ResponseError{StatusCode: 403, ErrorCode: "AuthenticationFailed"}), ErrDenied, false},
		"azblob, no right":          {azblobFailure(&azcore.ResponseError{StatusCode: 403, ErrorCode: "AuthorizationPermissionMismatch"}), ErrDenied, false},
		"azblob, nobody":            {azblobFailure(&azcore.ResponseError{StatusCode: 401, ErrorCode: "NoAuthenticationInformation"}), ErrDenied, false},
		"azblob, not public":        {azblobFailure(&azcore.ResponseError{StatusCode: 409, ErrorCode: "PublicAccessNotPermitted"}), ErrDenied, false},
		"azblob, busy":              {azblobFailure(&azcore.ResponseError{StatusCode: 503, ErrorCode: "ServerBusy"}), ErrTransfer, true},
		"azblob, not that way":      {azblobFailure(&azcore.ResponseError{StatusCode: 409, ErrorCode: "InvalidBlobType"}), ErrTransfer, false},
		"azblob, the caller's end":  {azblobFailure(context.Canceled), context.Canceled, false},
		"gs, a broken connection":   {gsFailure(io.ErrUnexpectedEOF), ErrTransfer, true},
		"gs, nobody answers":        {gsFailure(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), ErrTransfer, true},
		"gs, the end of the caller": {gsFailure(context.Canceled), context.Canceled, false},
	} {
		if !errors.Is(c.found, c.kind) || passing(c.found) != c.again {
			t.Errorf("%s: found %v, again %v, expected %v, %v", name, c.found, passing(c.found), c.kind, c.again)
		}
	}
}

// TestUploadsThatStandStillEnd sends to a server that takes nothing and answers nothing.
func TestUploadsThatStandStillEnd(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer server.Close()
	defer close(silent)
	client := &http.Client{Transport: patientTransport{&http.Transport{}}}
	ctx := context.WithValue(t.Context(), stallKey{}, 10*time.Millisecond)
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	if found := silence(err, ""); !errors.Is(found, ErrTransfer) || !passing(found) {
		t.Errorf("found %v", found)
	}
}
