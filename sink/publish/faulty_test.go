package publish

import (
	"errors"
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

// A faultyDisk is a disk whose at-th operation fails, counting from 1; 0 is none. It may also lack
// operations, or fail them in a way of its own.
type faultyDisk struct {
	at    int
	mode  faultMode
	lacks []string
	fails func(operation, path string) error // before its effect, unless it returns nil

	mu     sync.Mutex
	count  int
	failed string // the operation that failed
}

func (d *faultyDisk) disk() disk { return disk{fault: d.do} }

// failing is a disk that fails operations with err.
func failing(err error, operations ...string) disk {
	d := &faultyDisk{fails: func(operation, _ string) error {
		if slices.Contains(operations, operation) {
			return err
		}
		return nil
	}}
	return d.disk()
}

// do runs an operation, or fails it.
func (d *faultyDisk) do(operation, path string, effect func() error) error {
	switch operation {
	case "sync", "syncTree", "syncDir": // no test cuts the power, and real disks are slow
		effect = func() error { return nil }
	case "close", "closeFolder": // frees the descriptor whatever it reports
		err := effect()
		effect = func() error { return err }
	}
	if slices.Contains(d.lacks, operation) {
		return errors.ErrUnsupported
	}
	if d.fails != nil {
		if err := d.fails(operation, path); err != nil {
			return err
		}
	}
	d.mu.Lock()
	d.count++
	hit := d.count == d.at
	if hit {
		d.failed = operation
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
