package object

import (
	"cmp"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idxport/idxport/fault"
)

// A Store gives access to the objects of a run. Its zero value is ready for use; it may be used from many goroutines.
type Store struct {
	Options Options

	mu      sync.Mutex
	asked   map[string]url.Values // parameters, by the root of the bucket
	buckets map[string]*bucket    // those that were opened
}

// ParseArg reads an argument that may be a URL, or have a name and an equals sign before one. It
// returns the argument without parameters, which the store keeps for the bucket; other arguments are
// returned as they are. Two URLs of one bucket cannot have different parameters; one may have none.
func (s *Store) ParseArg(arg string) (string, error) {
	begin := at(arg)
	if begin < 0 {
		return arg, nil
	}
	name, query, asks := strings.Cut(arg[begin:], "?")
	a, err := parse(name)
	if err != nil || !asks {
		return arg, err
	}
	values, err := parseQuery(a, query)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.asked[a.root()]; ok && !maps.EqualFunc(before, values, slices.Equal[[]string]) {
		return "", failed(fault.Usage, "one bucket is given with different parameters").In(a.root())
	}
	s.ask(a, values)
	return arg[:begin] + name, nil
}

// ask keeps the parameters of a bucket, which is opened anew if it was without any.
func (s *Store) ask(a address, values url.Values) {
	if s.asked == nil {
		s.asked = map[string]url.Values{}
	}
	if _, ok := s.asked[a.root()]; !ok {
		s.asked[a.root()] = values
		delete(s.buckets, a.root())
	}
}

// Parameters are what URLs asked for, as queries by the URL of their bucket: another process gives
// them to Suppose. None of them is a secret. What is about a run, and not about where the bucket is,
// is left out.
func (s *Store) Parameters() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.asked))
	for root, values := range s.asked {
		values = maps.Clone(values)
		delete(values, paramStall) // it is about a run
		if text := values.Encode(); text != "" {
			all[root] = text
		}
	}
	return all
}

// Suppose takes parameters for the buckets for which no URL asked for any; one that asked for some
// has all that it needs.
func (s *Store) Suppose(parameters map[string]string) error {
	for root, query := range parameters {
		a, err := parse(root)
		if err != nil {
			return err
		}
		values, err := parseQuery(a, query)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.ask(a, values)
		s.mu.Unlock()
	}
	return nil
}

// reach returns the bucket of the object called name, which is opened at the first use.
func (s *Store) reach(ctx context.Context, name string) (*bucket, address, error) {
	a, err := parse(name)
	if err != nil {
		return nil, a, err
	}
	if a.scheme != "s3" {
		return nil, a, failed(fault.Usage, "a file is no object").In(a.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.buckets[a.root()]; ok {
		return b, a, nil
	}
	values, o := s.asked[a.root()], s.Options.withDefaults()
	if text := values.Get(paramStall); text != "" {
		if o.Stall, err = time.ParseDuration(text); err != nil || o.Stall <= 0 {
			return nil, a, failed(fault.Usage, "the parameter stall is no time such as 30s").In(a.String())
		}
	}
	c, err := connect(ctx, a.bucket, values, o)
	if err != nil {
		return nil, a, errorAt(a, err)
	}
	if s.buckets == nil {
		s.buckets = map[string]*bucket{}
	}
	s.buckets[a.root()] = &bucket{c, o}
	return s.buckets[a.root()], a, nil
}

// reachKey is reach for what must be a key.
func (s *Store) reachKey(ctx context.Context, name string) (*bucket, address, error) {
	b, a, err := s.reach(ctx, name)
	if err == nil {
		err = a.needsKey()
	}
	return b, a, err
}

// Open opens the object called name. The context ends all its requests.
func (s *Store) Open(ctx context.Context, name string) (*Reader, error) {
	b, a, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := b.find(ctx, a.key)
	if err != nil {
		return nil, errorAt(a, err)
	}
	return newReader(ctx, b, a, found), nil
}

// OpenVersion is Open for the version that has this ETag, as Reader.ETag tells it; if there is
// another, it is fault.Changed.
func (s *Store) OpenVersion(ctx context.Context, name, etag string) (*Reader, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if found := r.ETag(); found != etag {
		err := failed(fault.Changed, "found the version %s, expected %s", scrub(found), scrub(etag))
		return nil, errors.Join(errorAt(r.address, err), r.Close())
	}
	return r, nil
}

// Stat tells what name is: an object, or a folder if there are keys below it.
func (s *Store) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	b, a, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	prefix, missing := a.key, error(failed(fault.NotFound, "no key begins so"))
	if a.needsKey() == nil {
		found, err := b.find(ctx, a.key)
		if err == nil {
			return info{name: path.Base(a.key), size: found.size, modTime: found.modTime}, nil
		}
		prefix, missing = a.key+"/", err
	}
	below, err := b.below(ctx, prefix, true)
	switch {
	case err != nil && prefix == a.key:
		return nil, errorAt(a, err)
	case len(below) == 0:
		return nil, errorAt(a, missing)
	}
	return info{name: path.Base("/" + a.key), folder: true}, nil
}

// ReadDir lists the objects and prefixes right below name, in the order of their names.
func (s *Store) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	b, a, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	prefix := a.key
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	infos, err := b.below(ctx, prefix, false)
	if err != nil {
		return nil, errorAt(a, err)
	}
	var entries []fs.DirEntry
	for _, info := range infos {
		if info.Name() != "" {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Put makes a small object of data, in one request. An object that is there is fault.Exists unless
// overwrite is set, which is demanded of the storage rather than looked up before. If an answer was
// lost and the object there has the same bytes, all is well: so bytes that shall tell which of two
// processes was first must differ between them.
func (s *Store) Put(ctx context.Context, name string, data []byte, overwrite bool) error {
	b, a, err := s.reachKey(ctx, name)
	if err != nil {
		return err
	}
	w := &whole{bucket: b, key: a.key, replace: overwrite, data: data}
	w.Bytes, w.CRC32 = int64(len(data)), checksum(crc32.ChecksumIEEE(data))
	return errorAt(a, toWrite(w.appear(ctx, false)))
}

// Get is a small object, whole. One of more than limit bytes is fault.Malformed, and is not fetched.
// One that is replaced between the look at it and the read is looked up again.
func (s *Store) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	b, a, err := s.reachKey(ctx, name)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		found, err := b.find(ctx, a.key)
		if err != nil {
			return nil, errorAt(a, err)
		}
		if found.size > limit {
			return nil, errorAt(a, fault.New(fault.Malformed, "the object is too long: found %d bytes, expected at most %d", found.size, limit))
		}
		r := newReader(ctx, b, a, found)
		data := make([]byte, found.size)
		_, err = io.ReadFull(r, data)
		if err = errors.Join(err, r.Close()); err == nil {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.Is(err, fault.Changed) || n >= b.Attempts {
			return nil, err
		}
		if err := b.pause(ctx, n); err != nil {
			return nil, errorAt(a, err)
		}
	}
}

// Remove removes an object; none there is fine.
func (s *Store) Remove(ctx context.Context, name string) error {
	b, a, err := s.reachKey(ctx, name)
	if err != nil {
		return err
	}
	err = b.retry(ctx, func() error { return b.remove(ctx, a.key) })
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return errorAt(a, err)
}
