//go:build lean

package object

import (
	"context"
	"net/url"
)

// open has nothing to open with: this build reaches no storage.
func open(_ context.Context, a address, _ url.Values) (bucket, error) {
	return nil, &failure{kind: ErrBuild, text: a.scheme + ": this is the lean build, which has no object storage",
		hint: "copy the file to this machine, or use a build without the tag lean"}
}

// reason is what may be shown of the error of a connection.
func reason(err error) string { return scrub(err.Error()) }
