//go:build !lean && !gs

package object

import (
	"context"
	"net/url"
)

func openGS(context.Context, string, url.Values) (bucket, error) { return nil, missing("gs") }
