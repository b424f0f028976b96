package object

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// An identity is one version of an object, as it was found.
type identity struct {
	size    int64
	etag    string // as the storage calls the version; may be empty
	modTime time.Time
}

// A bucket is what a driver does. Its errors are a *failure, or those of package context; it repeats nothing.
type bucket interface {
	// find looks an object up.
	find(ctx context.Context, key string) (identity, error)
	// read opens n bytes from offset on, of this version of the object; fault.Changed tells that there is another.
	read(ctx context.Context, key string, version identity, offset, n int64) (io.ReadCloser, error)
	// list is what lies below a prefix that is empty or ends with a slash: objects, and prefixes in place of what lies deeper; at most so many, if most > 0.
	list(ctx context.Context, prefix string, most int) ([]fs.FileInfo, error)
	// create begins an upload, which the context ends.
	create(ctx context.Context, key string, overwrite bool, o Options) (upload, error)
	// remove removes an object; ErrNotFound may tell that there is none.
	remove(ctx context.Context, key string) error
}

// An upload is an object on its way; see Writer, whose methods these are.
type upload interface {
	io.Writer
	complete() error
	commit() error
	discard()
}

// paramStall is the parameter of URLs that sets Options.Stall.
const paramStall = "stall"

// A Store gives access to the objects of a run. Its zero value is ready for use; it may be used from many goroutines.
type Store struct {
	Options Options

	mu      sync.Mutex
	asked   map[string]url.Values // parameters, by the root of the bucket
	buckets map[string]bucket     // those that were opened
}

// Take reads an argument that may be a URL, or have a name and an equals sign before one. It returns the argument without parameters, which the store keeps for the
// bucket; other arguments are returned as they are. Two URLs of one bucket cannot have different parameters; one may have none.
func (s *Store) Take(arg string) (string, error) {
	begin := at(arg)
	if begin < 0 {
		return arg, nil
	}
	name, query, asks := strings.Cut(arg[begin:], "?")
	a, err := parse(name)
	if err != nil {
		return "", err
	}
	if !asks {
		return arg, nil
	}
	values, err := parseQuery(a, query)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.asked[a.root()]
	if ok && !maps.EqualFunc(before, values, slices.Equal[[]string]) {
		return "", &Error{URL: a.root(), Reason: "one bucket is given with different parameters", Err: ErrURL}
	}
	if s.asked == nil {
		s.asked = map[string]url.Values{}
	}
	s.asked[a.root()] = values
	return arg[:begin] + name, nil
}

// reach returns the bucket of the object called name, which is opened at the first use, and the patience that its URL asked for.
func (s *Store) reach(ctx context.Context, name string) (bucket, address, Options, error) {
	a, err := parse(name)
	if err != nil {
		return nil, a, Options{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	values := maps.Clone(s.asked[a.root()])
	o := s.Options
	if text := values.Get(paramStall); text != "" {
		if o.Stall, err = time.ParseDuration(text); err != nil || o.Stall <= 0 {
			return nil, a, o, &Error{URL: a.String(), Reason: "the parameter stall is no time such as 30s", Err: ErrURL}
		}
		delete(values, paramStall)
	}
	o = o.withDefaults()
	if b, ok := s.buckets[a.root()]; ok {
		return b, a, o, nil
	}
	b, err := open(ctx, a, values)
	if err != nil {
		return nil, a, o, errorAt(a, err)
	}
	if s.buckets == nil {
		s.buckets = map[string]bucket{}
	}
	s.buckets[a.root()] = b
	return b, a, o, nil
}

// Open opens the object called name. The context ends all its requests.
func (s *Store) Open(ctx context.Context, name string) (*Reader, error) {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := lookUp(ctx, b, a.key, o)
	if err != nil {
		return nil, errorAt(a, err)
	}
	return newReader(ctx, b, a, found, o), nil
}

// lookUp is find with patience.
func lookUp(ctx context.Context, b bucket, key string, o Options) (found identity, err error) {
	err = o.retry(ctx, func() error {
		inner, w := watched(ctx, o.Stall)
		defer w.stop()
		found, err = b.find(inner, key)
		return cut(ctx, inner, o.Stall, err)
	})
	return found, err
}

// Stat tells what name is: an object, or a folder if there are keys below it.
func (s *Store) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	if a.key != "" && !strings.HasSuffix(a.key, "/") {
		found, err := lookUp(ctx, b, a.key, o)
		if err == nil {
			return info{name: path.Base(a.key), size: found.size, modTime: found.modTime}, nil
		}
		below, listErr := list(ctx, b, a.key+"/", 1, o)
		if listErr != nil || len(below) == 0 {
			return nil, errorAt(a, err)
		}
		return info{name: path.Base(a.key), folder: true}, nil
	}
	below, err := list(ctx, b, a.key, 1, o)
	if err == nil && len(below) == 0 {
		err = &failure{kind: ErrNotFound, text: "no key begins so"}
	}
	if err != nil {
		return nil, errorAt(a, err)
	}
	return info{name: path.Base("/" + a.key), folder: true}, nil
}

// ReadDir lists the objects and prefixes right below name, in the order of their names.
func (s *Store) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	prefix := a.key
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	infos, err := list(ctx, b, prefix, 0, o)
	if err != nil {
		return nil, errorAt(a, err)
	}
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// list is the driver's with patience.
func list(ctx context.Context, b bucket, prefix string, most int, o Options) (infos []fs.FileInfo, err error) {
	err = o.retry(ctx, func() error {
		inner, w := watched(ctx, 10*o.Stall) // many pages
		defer w.stop()
		infos, err = b.list(inner, prefix, most)
		return cut(ctx, inner, 10*o.Stall, err)
	})
	return infos, err
}

// Create begins an object called name. It is looked up first: unless overwrite is set, one that is there is ErrExists before any work. The context ends
// the upload, but not Commit once it is called.
func (s *Store) Create(ctx context.Context, name string, overwrite bool) (*Writer, error) {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := a.needsKey(); err != nil {
		return nil, err
	}
	if !overwrite {
		_, err := lookUp(ctx, b, a.key, o)
		if err == nil {
			return nil, &Error{URL: a.String(), Err: ErrExists}
		}
		if !isNotFound(err) {
			return nil, errorAt(a, err)
		}
	}
	up, err := b.create(ctx, a.key, overwrite, o)
	if err != nil {
		return nil, errorAt(a, toWrite(err))
	}
	return &Writer{address: a, upload: up}, nil
}

// info is what is known of an object or a prefix.
type info struct {
	name    string
	size    int64
	modTime time.Time
	folder  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.modTime }
func (i info) IsDir() bool        { return i.folder }
func (i info) Sys() any           { return nil }

// Mode is that of a file or folder that anyone may read.
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// String is for messages of tests.
func (i info) String() string { return fmt.Sprintf("%s, %d bytes", i.name, i.size) }
