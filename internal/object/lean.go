//go:build lean

package object

import (
	"net/url"

	"github.com/idxport/idxport/internal/fault"
)

// connect fails: a lean build contains no network code.
func connect(string, url.Values, Options) (*client, error) {
	return nil, fault.New(fault.Usage, "this is a lean build, which reads and writes local files only").
		WithHint("copy the file to this machine, or use a build without the tag lean")
}

func connectWeb(string, string, Options) (*client, error) { return connect("", nil, Options{}) }
