//go:build !linux && !darwin && !freebsd && !windows

package publish

import "errors"

func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
