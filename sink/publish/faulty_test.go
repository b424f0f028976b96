package publish

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
)

var errFault = errors.New("injected fault")

// When the n-th operation fails.
type faultMode int

const (
	faultBefore faultMode = iota // it has no effect
	faultAfter                   // it has its effect, and says it failed
	faultCrash                   // it and all that follow have no effect, as if the process had been killed
)

var faultModes = map[faultMode]string{faultBefore: "before", faultAfter: "after", faultCrash: "crash"}

// faultyDisk is a disk whose at-th operation fails, counting from 1; 0 is none. It may also lack operations, or fail them always.
type faultyDisk struct {
	osDisk
	at    int
	mode  faultMode
	lacks []string
	fails []string // operations that always fail, without an effect

	mu     sync.Mutex
	count  int
	failed string // the operation that failed
}

// do runs an operation, or fails it.
func (d *faultyDisk) do(name string, effect func() error) error {
	if slices.Contains(d.lacks, name) {
		return errors.ErrUnsupported
	}
	if slices.Contains(d.fails, name) {
		return errFault
	}
	d.mu.Lock()
	d.count++
	hit := d.count == d.at
	if hit {
		d.failed = name
	}
	crashed := d.mode == faultCrash && d.at > 0 && d.count >= d.at
	d.mu.Unlock()
	switch {
	case crashed, hit && d.mode == faultBefore:
		return errFault
	case hit:
		if err := effect(); err != nil {
			return err
		}
		return errFault
	}
	return effect()
}

func (d *faultyDisk) lstat(path string) (info fs.FileInfo, err error) {
	err = d.do("lstat", func() error { info, err = d.osDisk.lstat(path); return err })
	return info, err
}

func (d *faultyDisk) readDir(path string) (entries []fs.DirEntry, err error) {
	err = d.do("readDir", func() error { entries, err = d.osDisk.readDir(path); return err })
	return entries, err
}

func (d *faultyDisk) open(path string) (r io.ReadCloser, err error) {
	err = d.do("open", func() error { r, err = d.osDisk.open(path); return err })
	if err != nil && r != nil {
		r.Close()
	}
	return r, err
}

func (d *faultyDisk) createFile(path string, replaced fs.FileInfo) (fileHandle, error) {
	var h fileHandle
	err := d.do("createFile", func() (err error) { h, err = d.osDisk.createFile(path, replaced); return err })
	if err != nil && h != nil {
		h.Close()
	}
	if err != nil {
		return nil, err
	}
	return faultyFile{h, d}, nil
}

func (d *faultyDisk) openFolder(path string, replaced fs.FileInfo) (folderHandle, error) {
	var h folderHandle
	err := d.do("openFolder", func() (err error) { h, err = d.osDisk.openFolder(path, replaced); return err })
	if err != nil && h != nil {
		h.Close()
	}
	if err != nil {
		return nil, err
	}
	return faultyFolder{h, d}, nil
}

// lock that fails after its effect leaves the file and loses the lock, as when the process is killed.
func (d *faultyDisk) lock(path string) (heldLock, error) {
	var h heldLock
	err := d.do("lock", func() (err error) { h, err = d.osDisk.lock(path); return err })
	if err != nil && h != nil {
		h.Close()
	}
	if err != nil {
		return nil, err
	}
	return faultyLock{h, d}, nil
}

func (d *faultyDisk) makeDir(path string, replaced fs.FileInfo) error {
	return d.do("makeDir", func() error { return d.osDisk.makeDir(path, replaced) })
}
func (d *faultyDisk) rename(from, to string) error {
	return d.do("rename", func() error { return d.osDisk.rename(from, to) })
}
func (d *faultyDisk) renameNew(from, to string) error {
	return d.do("renameNew", func() error { return d.osDisk.renameNew(from, to) })
}
func (d *faultyDisk) link(from, to string) error {
	return d.do("link", func() error { return d.osDisk.link(from, to) })
}
func (d *faultyDisk) exchange(a, b string) error {
	return d.do("exchange", func() error { return d.osDisk.exchange(a, b) })
}
func (d *faultyDisk) remove(path string) error {
	return d.do("remove", func() error { return d.osDisk.remove(path) })
}
func (d *faultyDisk) removeAll(path string) error {
	return d.do("removeAll", func() error { return d.osDisk.removeAll(path) })
}
func (d *faultyDisk) syncDir(string) error {
	return d.do("syncDir", func() error { return nil })
}

type faultyLock struct {
	heldLock
	d *faultyDisk
}

func (l faultyLock) unlink() error { return l.d.do("unlink", l.heldLock.unlink) }

type faultyFile struct {
	fileHandle
	d *faultyDisk
}

func (f faultyFile) Write(p []byte) (n int, err error) {
	err = f.d.do("write", func() error { n, err = f.fileHandle.Write(p); return err })
	return n, err
}
func (f faultyFile) Sync() error { return f.d.do("sync", func() error { return nil }) }
func (f faultyFile) Stat() (info fs.FileInfo, err error) {
	err = f.d.do("stat", func() error { info, err = f.fileHandle.Stat(); return err })
	return info, err
}

// Close frees the descriptor whatever it reports.
func (f faultyFile) Close() error {
	err := f.fileHandle.Close()
	return f.d.do("close", func() error { return err })
}

type faultyFolder struct {
	folderHandle
	d *faultyDisk
}

func (f faultyFolder) makeDir(name string) error {
	return f.d.do("makeClass", func() error { return f.folderHandle.makeDir(name) })
}

func (f faultyFolder) writeFile(path string, data []byte) error {
	return f.d.do("writeFile", func() error { return f.folderHandle.writeFile(path, data) })
}

func (f faultyFolder) createFile(path string) (fileHandle, error) {
	var h fileHandle
	err := f.d.do("createStream", func() (err error) { h, err = f.folderHandle.createFile(path); return err })
	if err != nil && h != nil {
		h.Close()
	}
	if err != nil {
		return nil, err
	}
	return faultyFile{h, f.d}, nil
}

func (f faultyFolder) rename(from, to string) error {
	return f.d.do("renameStream", func() error { return f.folderHandle.rename(from, to) })
}

// sync stores nothing: no test cuts the power, and real disks are slow.
func (f faultyFolder) sync() error { return f.d.do("syncTree", func() error { return nil }) }
func (f faultyFolder) Close() error {
	err := f.folderHandle.Close()
	return f.d.do("closeFolder", func() error { return err })
}
