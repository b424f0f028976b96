//go:build linux || darwin

package publish

import (
	"errors"

	"golang.org/x/sys/unix"
)

// freeSpace is statfs(2); Bavail leaves out the blocks reserved for root.
func freeSpace(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	if st.Blocks == 0 || int64(st.Bavail) < 0 { // some FUSE file systems do not say
		return 0, errors.ErrUnsupported
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}
