//go:build linux && amd64

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// bigRows is enough that a run needs more memory than Go's runtime alone.
const bigRows = 30000

// bigInput writes images and labels of Fashion-MNIST's form, 23 MB that hardly compress.
func (h *harness) bigInput() ([]string, error) {
	images := binary.BigEndian.AppendUint32(nil, 0x803)
	labels := binary.BigEndian.AppendUint32(nil, 0x801)
	for _, n := range []uint32{bigRows, 28, 28} {
		images = binary.BigEndian.AppendUint32(images, n)
	}
	labels = binary.BigEndian.AppendUint32(labels, bigRows)
	x := uint32(1)
	for i := range bigRows {
		for range 28 * 28 {
			x = x*1664525 + 1013904223 // Numerical Recipes' generator
			images = append(images, byte(x>>24))
		}
		labels = append(labels, byte(i%10))
	}
	paths := []string{filepath.Join(h.tmp, "big-images-idx3-ubyte"), filepath.Join(h.tmp, "big-labels-idx1-ubyte")}
	for i, content := range [][]byte{images, labels} {
		if err := os.WriteFile(paths[i], content, 0o644); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// memory runs with less than enough, more each time.
func (h *harness) memory() error {
	const section = "Too little memory"
	inputs, err := h.bigInput()
	if err != nil {
		return err
	}
	var benches []*bench
	for _, sc := range []scenario{
		{name: "big parquet", flags: []string{"-o", "out.parquet"}, targets: []string{"out.parquet"}},
		{name: "big csv", flags: []string{"-o", "out.csv"}, targets: []string{"out.csv"}},
		{name: "big parts", flags: []string{"-o", "parts.parquet", "--rows-per-file", "2000"}, targets: []string{"parts.parquet"}},
	} {
		sc.inputs, sc.rows = inputs, "0:"
		b, err := h.bench(sc, overwriting)
		if err != nil {
			return err
		}
		benches = append(benches, b)
		if h.quick {
			break
		}
	}
	crash := outcome{mayLeave: true, mayCrash: true}
	r := h.row(section, "address space (ulimit -v), growing by a 12th")
	err = inParallel(h, benches, func(b *bench) error {
		return b.growing(r, 64<<10, func(kilobytes int) trial {
			return trial{limit: func(cmd *exec.Cmd) { underShell(cmd, "ulimit -v $N", kilobytes) }, demand: crash}
		})
	})
	if err != nil {
		return err
	}
	r.done()
	r = h.row(section, "a memory cgroup, growing by a 12th: the kernel kills")
	parent, why := cgroup()
	if why != "" {
		r.skip("%s", why)
		return nil
	}
	for _, b := range benches { // one at a time: one group
		err := b.growing(r, 3<<10, func(kilobytes int) trial { return inCgroup(parent, kilobytes) })
		if err != nil {
			return err
		}
	}
	r.done()
	return nil
}

// growing is rising by a twelfth, as sizes do.
func (b *bench) growing(r *row, from int, make func(n int) trial) error {
	r.addCase()
	for n := from; n < 1<<25; n += n / 12 {
		dir, err := b.box()
		if err != nil {
			return err
		}
		wrong, end, err := b.try(dir, make(n))
		os.RemoveAll(dir)
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("%s: %d kB", b.scenario.name, n), wrong)
		if end == (ending{}) {
			return nil
		}
	}
	return fmt.Errorf("%s: never enough", b.scenario.name)
}

// A memoryGroup is where a version of cgroups keeps what is needed here.
type memoryGroup struct{ parent, limit, swap string }

// cgroup finds a place for a group with a limit, or says why there is none.
func cgroup() (memoryGroup, string) {
	for _, g := range []memoryGroup{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		dir := filepath.Join(g.parent, "idxport-faults-probe")
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		_, err := os.Stat(filepath.Join(dir, g.limit))
		_ = os.Remove(dir)
		if err == nil {
			return g, ""
		}
	}
	return memoryGroup{}, "no memory cgroup can be made here"
}

// inCgroup is a trial within a group of its own.
func inCgroup(g memoryGroup, kilobytes int) trial {
	group := filepath.Join(g.parent, "idxport-faults-"+strconv.Itoa(os.Getpid()))
	return trial{
		set: func(string) error {
			if err := os.Mkdir(group, 0o755); err != nil {
				return err
			}
			_ = os.WriteFile(filepath.Join(group, g.swap), []byte("0"), 0o644) // where there is swap at all
			return os.WriteFile(filepath.Join(group, g.limit), []byte(strconv.Itoa(kilobytes<<10)), 0o644)
		},
		limit: func(cmd *exec.Cmd) {
			underShell(cmd, "echo $$ >"+group+"/cgroup.procs", 0)
		},
		relieve: func(string) error { return os.Remove(group) },
		demand:  outcome{mayLeave: true, mayCrash: true},
	}
}
