//go:build unix

package publish

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Shape of an image folder: ten classes of small files, written by two goroutines.
const (
	benchFiles   = 60_000
	benchClasses = 10
	benchBytes   = 300
	benchWorkers = 2
)

// BenchmarkWriteFile compares a whole published folder with openat, write and close alone. Set TMPDIR to a tmpfs.
func BenchmarkWriteFile(b *testing.B) {
	names := make([]string, benchFiles)
	for i := range names {
		names[i] = fmt.Sprintf("%05d.png", i)
	}
	data := make([]byte, benchBytes)
	b.Run("limit", func(b *testing.B) {
		for b.Loop() {
			plainFolder(b, b.TempDir(), names, data)
		}
	})
	b.Run("published", func(b *testing.B) {
		for b.Loop() {
			publishedFolder(b, b.TempDir(), names, data)
		}
	})
}

// inParallel calls do for every index, from two goroutines.
func inParallel(do func(i int) error, b *testing.B) {
	var all sync.WaitGroup
	for worker := range benchWorkers {
		all.Go(func() {
			for i := worker; i < benchFiles; i += benchWorkers {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func plainFolder(b *testing.B, dir string, names []string, data []byte) {
	var dirs [benchClasses]int
	for class := range dirs {
		path := fmt.Sprintf("%s/%d", dir, class)
		if err := os.Mkdir(path, 0o777); err != nil {
			b.Fatal(err)
		}
		var err error
		if dirs[class], err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			b.Fatal(err)
		}
		defer unix.Close(dirs[class])
	}
	inParallel(func(i int) error {
		fd, err := unix.Openat(dirs[i%benchClasses], names[i], unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
		if err != nil {
			return err
		}
		if _, err := unix.Write(fd, data); err != nil {
			return err
		}
		return unix.Close(fd)
	}, b)
}

func publishedFolder(b *testing.B, dir string, names []string, data []byte) {
	s, err := Prepare([]Target{{Path: dir + "/train", Folder: true}}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Discard()
	var classes [benchClasses]*Class
	for i := range classes {
		if classes[i], err = s.Folder(0).Class(fmt.Sprint(i)); err != nil {
			b.Fatal(err)
		}
	}
	inParallel(func(i int) error { return classes[i%benchClasses].WriteFile(names[i], data) }, b)
	if err := s.Commit(); err != nil {
		b.Fatal(err)
	}
}
