//go:build azblob && !lean

package object

import (
	"context"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azb "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // the driver
)

// openAzblob opens a container of Azure Blob Storage.
func openAzblob(ctx context.Context, name string, q url.Values) (bucket, error) {
	b, err := blob.OpenBucket(ctx, "azblob://"+name+"?"+q.Encode())
	if err != nil {
		return nil, kitFailure(err)
	}
	return &kit{bucket: b, demand: func(version identity, as func(any) bool) {
		var options *azblob.DownloadStreamOptions
		if version.etag != "" && as(&options) {
			etag := azcore.ETag(version.etag)
			options.AccessConditions = &azb.AccessConditions{ModifiedAccessConditions: &azb.ModifiedAccessConditions{IfMatch: &etag}}
		}
	}}, nil
}
