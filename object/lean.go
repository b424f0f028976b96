//go:build lean

package object

import (
	"context"
	"net/url"

	"github.com/idxport/idxport/fault"
)

// connect has nothing to connect with: this build reaches no storage.
func connect(context.Context, string, url.Values, Options) (client, error) {
	return client{}, fault.New(fault.Usage, "not in this build: this is the lean build, which has no object storage").
		WithHint("copy the file to this machine, or use a build without the tag lean")
}
