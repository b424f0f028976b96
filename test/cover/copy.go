package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// copyModule copies the files of the module at from, as far as they are not ignored by git, and gives their names, with slashes.
func copyModule(ctx context.Context, from, to string) ([]string, error) {
	command := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir, command.Stderr = from, os.Stderr
	list, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		err := copyFile(filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted, or a folder now, and still in git's index
		case err != nil:
			return nil, err
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

// copyFile copies a file with its permissions; a link is copied as a link.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fs.ErrNotExist
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}
