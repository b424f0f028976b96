//go:build !unix

package publish

import "os"

// osClass makes files through the folder's root.
type osClass struct {
	root   *os.Root
	prefix string // "" or "class/"
}

func newClass(f *osFolder, dir, prefix string) (classHandle, error) {
	if dir != "." {
		prefix = dir + "/"
	}
	return &osClass{root: f.root, prefix: prefix}, nil
}

func (c *osClass) writeFile(name string, data []byte) error {
	f, err := c.root.OpenFile(c.prefix+name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = sizeIs(f, int64(len(data)))
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// sizeIs compares the size of f with what was written.
func sizeIs(f *os.File, written int64) error {
	info, err := f.Stat()
	if err == nil && info.Size() != written {
		err = incomplete(written, info.Size())
	}
	return err
}

// Close does nothing: the root is the folder's.
func (c *osClass) Close() error { return nil }
