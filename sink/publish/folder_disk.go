package publish

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// osFolder is a folder opened through os.Root, so that no class name can lead out of it.
type osFolder struct {
	root *os.Root
	self *os.File // opened before anything is written: syncfs reports the errors since then
}

func (osDisk) openFolder(path string, replaced fs.FileInfo) (folderHandle, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	f := &osFolder{root: root, self: self}
	if replaced == nil {
		return f, nil
	}
	if err := setMode(self, folderMode(replaced)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *osFolder) class(name string, make, keep bool) (classHandle, error) {
	if make {
		if err := f.root.Mkdir(name, 0o777); err != nil {
			return nil, err
		}
	}
	if name == "" {
		return newClass(f, ".", "")
	}
	if !keep {
		return newClass(f, ".", name+"/")
	}
	return newClass(f, name, "")
}

func (f *osFolder) createFile(path string) (fileHandle, error) {
	return newOSFile(f.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666))
}

// rename is tried again after a signal, which [os.Root.Rename] does not do; network file systems end so.
func (f *osFolder) rename(from, to string) error {
	err := f.root.Rename(from, to)
	for errors.Is(err, syscall.EINTR) {
		err = f.root.Rename(from, to)
	}
	return err
}

func (f *osFolder) sync() error { return syncTree(f.self, f.root) }

func (f *osFolder) Close() error {
	err := f.self.Close()
	if rootErr := f.root.Close(); err == nil {
		err = rootErr
	}
	return err
}
