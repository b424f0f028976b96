//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A kind groups system calls by what a fault in them means.
type kind int

const (
	reads kind = iota
	opens
	writes
	syncs
	closes
	renames
	links
	unlinks
	mkdirs
	locks
)

// A call is a system call and where its paths are among its arguments: rdi, rsi, rdx, r10, r8.
type call struct {
	name string
	kind kind
	fd   int // the argument that is the descriptor of a file, or of the folder that path is relative to; -1 for none
	path int // the argument that is a path; -1 for none
	toFd int // the same for a second path; 0 for none
	to   int
}

const (
	sysRenameat2 = 316 // package syscall ends before them
	sysSyncfs    = 306
	sysOpenat2   = 437
	sysCopyRange = 326
)

// calls are the system calls that a fault can be put into: all that Go's runtime and standard
// library use for files. The README says how to find missing ones.
var calls = map[uint64]call{
	syscall.SYS_READ:            {name: "read", kind: reads, path: -1},
	syscall.SYS_PREAD64:         {name: "pread64", kind: reads, path: -1},
	syscall.SYS_FSTAT:           {name: "fstat", kind: reads, path: -1},
	syscall.SYS_LSTAT:           {name: "lstat", kind: reads, fd: -1},
	syscall.SYS_STAT:            {name: "stat", kind: reads, fd: -1},
	syscall.SYS_NEWFSTATAT:      {name: "newfstatat", kind: reads, path: 1},
	syscall.SYS_STATFS:          {name: "statfs", kind: reads, fd: -1},
	syscall.SYS_GETDENTS64:      {name: "getdents64", kind: reads, path: -1},
	syscall.SYS_READLINKAT:      {name: "readlinkat", kind: reads, path: 1},
	syscall.SYS_OPENAT:          {name: "openat", kind: opens, path: 1},
	sysOpenat2:                  {name: "openat2", kind: opens, path: 1},
	syscall.SYS_OPEN:            {name: "open", kind: opens, fd: -1},
	syscall.SYS_WRITE:           {name: "write", kind: writes, path: -1},
	syscall.SYS_PWRITE64:        {name: "pwrite64", kind: writes, path: -1},
	sysCopyRange:                {name: "copy_file_range", kind: writes, fd: 2, path: -1},
	syscall.SYS_FTRUNCATE:       {name: "ftruncate", kind: writes, path: -1},
	syscall.SYS_FSYNC:           {name: "fsync", kind: syncs, path: -1},
	syscall.SYS_FDATASYNC:       {name: "fdatasync", kind: syncs, path: -1},
	sysSyncfs:                   {name: "syncfs", kind: syncs, path: -1},
	syscall.SYS_CLOSE:           {name: "close", kind: closes, path: -1},
	syscall.SYS_RENAME:          {name: "rename", kind: renames, fd: -1, toFd: -1, to: 1},
	syscall.SYS_RENAMEAT:        {name: "renameat", kind: renames, path: 1, toFd: 2, to: 3},
	sysRenameat2:                {name: "renameat2", kind: renames, path: 1, toFd: 2, to: 3},
	syscall.SYS_LINK:            {name: "link", kind: links, fd: -1, toFd: -1, to: 1},
	syscall.SYS_LINKAT:          {name: "linkat", kind: links, path: 1, toFd: 2, to: 3},
	syscall.SYS_UNLINK:          {name: "unlink", kind: unlinks, fd: -1},
	syscall.SYS_RMDIR:           {name: "rmdir", kind: unlinks, fd: -1},
	syscall.SYS_UNLINKAT:        {name: "unlinkat", kind: unlinks, path: 1},
	syscall.SYS_MKDIR:           {name: "mkdir", kind: mkdirs, fd: -1},
	syscall.SYS_MKDIRAT:         {name: "mkdirat", kind: mkdirs, path: 1},
	syscall.SYS_FLOCK:           {name: "flock", kind: locks, path: -1},
	syscall.SYS_SYNC_FILE_RANGE: {name: "sync_file_range", kind: syncs, path: -1},
}

// describe reads the system call that the stopped thread is about to make.
func describe(tid int, regs *syscall.PtraceRegs) (step, bool) {
	c, ok := calls[regs.Orig_rax]
	if !ok {
		return step{}, false
	}
	arguments := []uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8}
	s := step{call: c.name, kind: c.kind}
	s.path = pathOf(tid, arguments, c.fd, c.path)
	if c.to > 0 {
		s.to = pathOf(tid, arguments, c.toFd, c.to)
	}
	switch regs.Orig_rax {
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		s.size = int(regs.Rdx)
	case syscall.SYS_OPEN:
		s.flags = int(regs.Rsi)
	case syscall.SYS_OPENAT:
		s.flags = int(regs.Rdx)
	case sysOpenat2: // the first field of struct open_how
		how := make([]byte, 8)
		if _, err := syscall.PtracePeekData(tid, uintptr(regs.Rdx), how); err == nil {
			s.flags = int(how[0]) | int(how[1])<<8 | int(how[2])<<16 | int(how[3])<<24
		}
	case sysRenameat2:
		s.flags = int(regs.R8)
	}
	return s, true
}

// pathOf is the path of a descriptor, or of a path relative to one.
func pathOf(tid int, arguments []uint64, fd, path int) string {
	folder := "cwd"
	if fd >= 0 && int32(arguments[fd]) >= 0 {
		folder = fmt.Sprintf("fd/%d", int32(arguments[fd]))
	}
	base, _ := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, folder))
	base = strings.TrimSuffix(base, " (deleted)")
	if path < 0 {
		return base
	}
	name := readString(tid, uintptr(arguments[path]))
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(base, name)
}

// readString reads a text that ends with a zero byte from the thread's memory.
func readString(tid int, at uintptr) string {
	var text []byte
	for word := make([]byte, 64); len(text) < 4096; at += uintptr(len(word)) {
		n, err := syscall.PtracePeekData(tid, at, word)
		if end := bytes.IndexByte(word[:n], 0); end >= 0 {
			return string(append(text, word[:end]...))
		}
		text = append(text, word[:n]...)
		if err != nil {
			break
		}
	}
	return string(text)
}
