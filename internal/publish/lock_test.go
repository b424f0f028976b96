package publish

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
)

// lockWorker is the variable that makes the test binary contend for a lock instead of testing.
const lockWorker = "PUBLISH_TEST_LOCK"

// The number of times that TestLockExcludes takes the lock is the product of these.
const (
	lockProcesses  = 4
	lockGoroutines = 4
	lockTurns      = 50
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockWorker); dir != "" {
		if err := contend(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// contend takes the lock in dir lockTurns times in each of lockGoroutines. The holder makes a
// folder that must not exist: if two hold the lock, one of them fails.
func contend(dir string) error {
	var all sync.WaitGroup
	errs := make(chan error, lockGoroutines)
	for range lockGoroutines {
		all.Go(func() { errs <- takeTurns(dir) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func takeTurns(dir string) error {
	for turns := 0; turns < lockTurns; {
		lock, err := takeLock(filepath.Join(dir, ".x.idxport"))
		if errors.Is(err, fault.Locked) {
			time.Sleep(50 * time.Microsecond) // let the holder run
			continue
		}
		if err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(dir, "inside"), 0o777); err != nil {
			return fmt.Errorf("two hold the lock: %w", err)
		}
		if err := os.Remove(filepath.Join(dir, "inside")); err != nil {
			return err
		}
		if err := lock.unlink(); err != nil {
			return err
		}
		if err := lock.Close(); err != nil {
			return err
		}
		turns++
	}
	return nil
}

// TestLockExcludes has many goroutines of several processes take a lock whose file each holder
// unlinks.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for range lockProcesses {
		all.Go(func() {
			worker := exec.Command(os.Args[0])
			worker.Env = append(os.Environ(), lockWorker+"="+dir)
			if out, err := worker.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if left := readTree(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestSecondRunIsLockedOut(t *testing.T) {
	t.Parallel()
	for _, folder := range []bool{false, true} {
		t.Run(fmt.Sprintf("folder %v", folder), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			targets := []Target{{Path: dir + "/free.csv"}, {Path: dir + "/x", Folder: folder}}
			first, err := Prepare(targets[1:], Options{})
			if err != nil {
				t.Fatal(err)
			}
			before := fmt.Sprint(readTree(t, dir))
			if _, err := Prepare(targets, Options{}); !errors.Is(err, fault.Locked) || !strings.HasPrefix(err.Error(), dir+"/x: ") {
				t.Errorf("the second run: %v", err)
			}
			if after := fmt.Sprint(readTree(t, dir)); after != before {
				t.Errorf("the second run changed %s to %s", before, after)
			}
			if err := first.Commit(); err != nil {
				t.Fatal(err)
			}
			second, err := Prepare(targets, Options{})
			if err != nil {
				t.Fatalf("after the first run ended: %v", err)
			}
			second.Discard()
		})
	}
}
