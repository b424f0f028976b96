//go:build lean

package object

import (
	"context"
	"net/url"

	"github.com/idxport/idxport/fault"
)

// connect fails: a lean build contains no network code.
func connect(context.Context, string, url.Values, Options) (client, error) {
	return client{}, fault.New(fault.Usage, "this is a lean build, which has no object storage").
		WithHint("copy the file to this machine, or use a build without the tag lean")
}
