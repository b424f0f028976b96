package convert

import (
	"sync"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// opened is what a run knows of its inputs from having opened them, by their paths as reports have them. Its zero value is ready for use, from many goroutines.
type opened struct {
	mu         sync.Mutex
	etags      map[string]string // of objects
	sequential map[string]bool   // of IDX files: they can be read only from their start
}

// object notes the version of an object. A run reads one version, however often it opens the object: another one is fault.Changed. Storage that has no
// ETags says nothing.
func (o *opened) object(url, etag string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, ok := o.etags[url]; ok && before != etag {
		return fault.In(url, fault.Changed)
	}
	if o.etags == nil {
		o.etags = map[string]string{}
	}
	o.etags[url] = etag
	return nil
}

// idx notes how the IDX file at path can be read; once tells that it cannot be opened again.
func (o *opened) idx(path string, t *source.IDX, once bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sequential == nil {
		o.sequential = map[string]bool{}
	}
	_, _, entered := t.Span(0, 0)
	o.sequential[path] = once || !entered
}

// of is the ETag of the input at path, if it is an object, and whether it can be read only from its start.
func (o *opened) of(path string) (etag string, sequential bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.etags[path], o.sequential[path]
}
