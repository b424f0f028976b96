//go:build linux

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/idxport/idxport/test/object/proxy"
)

// broken reads through connections that break, and an object that is replaced meanwhile.
func (t *tests) broken() {
	for _, fault := range []proxy.Fault{proxy.Error500, proxy.Slow503, proxy.Reset, proxy.Stall, proxy.Short, proxy.StallBody} {
		var seen atomic.Int64
		p, front, there := behind(t.server, func(*http.Request) proxy.Fault {
			if n := seen.Add(1); n == 2 || n == 3 || n == 6 {
				return fault
			}
			return proxy.None
		})
		name := t.local(strings.ReplaceAll(fault.String(), " ", "-") + ".csv")
		t.endsAt(there, 0, "convert", there.object("mnist/"+files[2], "stall=700ms"), there.object("mnist/"+files[3], "stall=700ms"), "-o", name)
		front.CloseClientConnections()
		front.Close()
		if n := p.Done()[fault]; n == 0 {
			t.fail("reads with %v: the fault never came", fault)
		}
		t.same("reads with "+fault.String(), name, t.local("mnist/test.csv"))
	}
	t.changed()
}

// changed replaces an object while it is read, by one of the same size.
func (t *tests) changed() {
	before, err := os.ReadFile(t.raw(files[0]))
	if err != nil {
		t.fail("%v", err)
		return
	}
	after := bytes.Clone(before)
	after[len(after)-1] ^= 1
	if err := t.server.put(t.ctx, "changing/"+files[0], before, ""); err != nil {
		t.fail("%v", err)
	}
	var seen atomic.Int64
	_, front, there := behind(t.server, func(*http.Request) proxy.Fault {
		if seen.Add(1) == 4 {
			if err := t.server.put(t.ctx, "changing/"+files[0], after, ""); err != nil {
				t.fail("%v", err)
			}
		}
		return proxy.None
	})
	defer front.Close()
	t.refuses("an object that is replaced while it is read", there, 74, "changed",
		"convert", there.object("changing/"+files[0]), "--dataset", "none", "-o", there.object("changed.parquet"))
	if _, err := t.server.get("changed.parquet"); !errors.Is(err, fs.ErrNotExist) {
		t.fail("an object that is replaced while it is read: an output is there, %v", err)
	}
}
