//go:build unix

package publish

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkWriteFile compares a whole published folder with openat, write and close alone: ten
// classes of 60,000 files of 300 bytes, written by two goroutines. Set TMPDIR to a tmpfs.
func BenchmarkWriteFile(b *testing.B) {
	const files, classes, workers = 60_000, 10, 2
	data := make([]byte, 300)
	inParallel := func(write func(class int, name string) error) {
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				for i := worker; i < files; i += workers {
					if err := write(i%classes, fmt.Sprintf("%05d.png", i)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	}
	b.Run("limit", func(b *testing.B) {
		for b.Loop() {
			var dirs [classes]int
			root := b.TempDir()
			for class := range dirs {
				path := filepath.Join(root, fmt.Sprint(class))
				err := unix.Mkdir(path, 0o777)
				if err == nil {
					dirs[class], err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				}
				if err != nil {
					b.Fatal(err)
				}
				defer unix.Close(dirs[class])
			}
			inParallel(func(class int, name string) error {
				fd, err := unix.Openat(dirs[class], name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
				if err == nil {
					_, err = unix.Write(fd, data)
				}
				if err != nil {
					return err
				}
				return unix.Close(fd)
			})
		}
	})
	b.Run("published", func(b *testing.B) {
		for b.Loop() {
			s, err := Prepare([]Target{{Path: filepath.Join(b.TempDir(), "train"), Folder: true}}, Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Discard()
			inParallel(func(class int, name string) error {
				c, err := s.Folder(0).Subfolder(fmt.Sprint(class))
				if err != nil {
					return err
				}
				return c.WriteFile(name, data)
			})
			if err := s.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
