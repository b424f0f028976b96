package publish

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/idxport/idxport/internal/fault"
)

// TestLockExcludes has many goroutines take a lock whose file each holder removes. The holder makes
// a folder that must not exist: if two hold the lock, one of them fails.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	const goroutines, turns = 16, 50
	dir := t.TempDir()
	takeTurn := func() error {
		lock, err := takeLock(filepath.Join(dir, ".x.idxport"))
		if err != nil {
			return err
		}
		inside := filepath.Join(dir, "inside")
		if err := errors.Join(os.Mkdir(inside, 0o777), os.Remove(inside)); err != nil {
			return fmt.Errorf("two hold the lock: %w", err)
		}
		_ = os.Remove(lock.Name()) // on Windows, Close does it
		return lock.Close()
	}
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for taken := 0; taken < turns; {
				err := takeTurn()
				switch {
				case err == nil:
					taken++
				case errors.Is(err, fault.Locked):
					time.Sleep(50 * time.Microsecond) // let the holder run
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	holds(t, dir, tree{})
}
