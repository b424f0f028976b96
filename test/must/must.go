// Package must ends tests at errors that they do not expect.
package must

import (
	"os"
	"runtime"
	"testing"
)

// Get returns a function that returns v, or ends the test if err is not nil:
// must.Get(os.ReadFile(path))(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Do ends the test if err is not nil: must.Do(t, file.Close()).
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Link makes the symbolic link path, which leads to the file or folder to. It skips the test on
// Windows, where that needs a privilege.
func Link(t testing.TB, to, path string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege")
	}
	Do(t, os.Symlink(to, path))
}
