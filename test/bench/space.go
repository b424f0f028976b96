//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// smallNeed is what the contests on MNIST write at a time, in bytes: 60,000 files of a page and
	// an inode each are the most.
	smallNeed = 400e6
	// smallFiles is how many files that is.
	smallFiles = 61000
	// diskNeed is what a durable contest writes at a time: the CSV of MNIST, and room for the file
	// system's own.
	diskNeed = 256e6
	// programNeed is the memory of the processes themselves.
	programNeed = 300e6
)

// largeNeed is the space for an input of size bytes and, beside it, an output that may be as large.
func largeNeed(size int64, output bool) float64 {
	need := float64(size) * 1.02
	if output {
		need *= 2
	}
	return need
}

// check finds what would make a run fail after minutes: files that are missing, and too little
// space or memory.
func (s *settings) check(chosen []contest, sizes []float64) error {
	if s.runs < 1 {
		return fmt.Errorf("-n %d: expected at least one run", s.runs)
	}
	if !s.scale && len(chosen) == 0 && !strings.Contains(startName, s.only) {
		return fmt.Errorf("no contest's name contains %q", s.only)
	}
	if err := s.checkFiles(chosen); err != nil {
		return err
	}
	if err := s.checkWrite(); err != nil {
		return err
	}
	var need, files float64
	durable := false
	for _, c := range chosen {
		durable = durable || c.durable
		if c.large != "" {
			need = max(need, largeNeed(gib(s.bigGiB), true))
		} else if !c.durable {
			need, files = max(need, smallNeed), smallFiles
		}
	}
	for _, n := range sizes {
		need = max(need, largeNeed(gib(n), false))
	}
	if err := checkSpace(s.tmp, need, files); err != nil {
		return err
	}
	if !durable {
		return nil
	}
	if kind, err := fileSystem(s.disk); err == nil && kind == "tmpfs" {
		return fmt.Errorf("-disk %s is a tmpfs, expected a folder on a disk for the durable contests", s.disk)
	}
	return checkSpace(s.disk, diskNeed, 0)
}

// checkFiles looks for the program and for what the contests read.
func (s *settings) checkFiles(chosen []contest) error {
	if _, err := os.Stat(s.binary); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	paths := s.paths("", "")
	for _, c := range chosen {
		for _, a := range slices.Concat(c.run, c.limit) {
			if !strings.HasPrefix(a, "{mnist}") && !strings.HasPrefix(a, "{fashion}") {
				continue
			}
			if _, err := os.Stat(paths.Replace(a)); err != nil {
				return fmt.Errorf("%w (make data fetches it)", err)
			}
		}
	}
	return nil
}

// checkSpace compares what is needed below folder, in bytes and files, with what is free there;
// and, as the files of a tmpfs are memory, with the memory that is available.
func checkSpace(folder string, need, files float64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	if free := float64(st.Bavail) * float64(st.Bsize); free < need {
		return lack(folder, fmt.Sprintf("needs %s of space, found %s free", gb(need), gb(free)))
	}
	if st.Files > 0 && float64(st.Ffree) < files {
		return lack(folder, fmt.Sprintf("needs room for %.0f files, found %d", files, st.Ffree))
	}
	if st.Type != unix.TMPFS_MAGIC {
		return nil
	}
	memory, err := availableMemory()
	if err != nil {
		return err
	}
	if memory < need+programNeed {
		return lack(folder, fmt.Sprintf("is a tmpfs, whose files are memory: needs %s with the programs, found %s available", gb(need+programNeed), gb(memory)))
	}
	return nil
}

// lack is the error for too little of something, with what can be done.
func lack(folder, message string) error {
	hint := "choose smaller inputs with -big or -sizes, leave the large ones out with -large=false, or name another folder with -tmp (or -disk)"
	if old, err := filepath.Glob(filepath.Join(folder, folderPrefix+"*")); err == nil && len(old) > 0 {
		hint = "if no other run is going on, remove what a killed one left: " + strings.Join(old, " ")
	}
	return fmt.Errorf("%s %s\nhint: %s", folder, message, hint)
}

func gb(bytes float64) string { return fmt.Sprintf("%.1f GB", bytes/1e9) }

// availableMemory is how many bytes can be used without swapping: what the kernel estimates, or
// less in a container with a limit of its own.
func availableMemory() (float64, error) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer f.Close() // only read from
	kib, err := field(f, "MemAvailable:")
	if err != nil {
		return 0, fmt.Errorf("/proc/meminfo: %w", err)
	}
	return min(kib*1024, containerMemory("/sys/fs/cgroup")), nil
}

// containerMemory is what a control group (version 2) leaves of its limit, the page cache not
// counted, as it gives way; infinite without a limit.
func containerMemory(group string) float64 {
	text, err := os.ReadFile(filepath.Join(group, "memory.max"))
	if err != nil {
		return math.Inf(1)
	}
	limit, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil { // "max"
		return math.Inf(1)
	}
	f, err := os.Open(filepath.Join(group, "memory.stat"))
	if err != nil {
		return limit
	}
	defer f.Close() // only read from
	for _, name := range []string{"anon", "shmem"} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return limit
		}
		if used, err := field(f, name); err == nil {
			limit -= used
		}
	}
	return limit
}

// field finds the number after name in lines of names and numbers.
func field(r io.Reader, name string) (float64, error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == name {
			return strconv.ParseFloat(words[1], 64)
		}
	}
	return 0, errors.Join(fmt.Errorf("found no %s", name), lines.Err())
}

// fileSystem names the file system that folder is on.
func fileSystem(folder string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return "", &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	switch int64(uint32(st.Type)) { // 32 bits everywhere, signed on some machines
	case unix.TMPFS_MAGIC:
		return "tmpfs", nil
	case unix.EXT4_SUPER_MAGIC:
		return "ext4", nil
	case unix.XFS_SUPER_MAGIC:
		return "xfs", nil
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs", nil
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs", nil
	}
	return fmt.Sprintf("file system %#x", st.Type), nil
}
