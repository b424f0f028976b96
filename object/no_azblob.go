//go:build !lean && !azblob

package object

import (
	"context"
	"net/url"
)

func openAzblob(context.Context, string, url.Values) (bucket, error) { return nil, missing("azblob") }
