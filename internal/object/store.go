package object

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idxport/idxport/fault"
)

// A Store gives access to the objects of a run. The zero value is ready for use. A Store may be
// used by many goroutines.
type Store struct {
	Options Options
	// Scratch creates a temporary file, which the system deletes once it is closed or no longer
	// used. It will hold the copy of a file from a web server that does not send parts of files. If
	// Scratch is nil, such files cannot be read.
	Scratch func() (*os.File, error)

	mu         sync.Mutex
	parameters map[string]url.Values // of buckets, by address.root
	queries    map[string]string     // of files on web servers, by URL; may be secret
	clients    map[string]*client    // of buckets and files that were opened, by address.root
}

// ParseArg parses an argument that may be a URL, perhaps after a name and an equals sign. It
// returns the argument without the parameters of the URL, which the store keeps for the bucket, or
// for the file on a web server. Other arguments are returned as they are. ParseArg fails with
// fault.Usage if an earlier URL of the bucket had other parameters. URLs without any are allowed.
func (s *Store) ParseArg(arg string) (string, error) {
	begin := urlIndex(arg)
	if begin < 0 {
		return arg, nil
	}
	name, query, found := strings.Cut(arg[begin:], "?")
	a, err := parse(name)
	if err == nil && a.isWeb() {
		return arg[:begin] + name, s.setQuery(a, query)
	}
	if err != nil || !found {
		return arg, err
	}
	values, err := parseQuery(a, query)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.parameters[a.root()]; ok && !maps.EqualFunc(before, values, slices.Equal[[]string]) {
		return "", failed(fault.Usage, "found URLs of this bucket with different parameters, expected the same in all").
			In(a.root())
	}
	s.setParameters(a, values)
	return arg[:begin] + name, nil
}

// setQuery keeps the query of the URL a, of a file on a web server, for the requests of the file.
func (s *Store) setQuery(a address, query string) error {
	query, _, _ = strings.Cut(query, "#")
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.queries[a.root()]; ok && before != query {
		return failed(fault.Usage, "found URLs that differ only after the question mark, expected different paths").
			In(a.String()).WithHint("download the files under different names")
	}
	if s.queries == nil {
		s.queries = map[string]string{}
	}
	s.queries[a.root()] = query
	return nil
}

// setParameters sets the parameters of a bucket that has none. It drops the client without them.
func (s *Store) setParameters(a address, values url.Values) {
	if s.parameters == nil {
		s.parameters = map[string]url.Values{}
	}
	if _, ok := s.parameters[a.root()]; !ok {
		s.parameters[a.root()] = values
		delete(s.clients, a.root())
	}
}

// client returns the client for the URL name. The first use connects it.
func (s *Store) client(name string) (*client, address, error) {
	a, err := parse(name)
	if err != nil {
		return nil, a, err
	}
	if a.scheme == "file" {
		return nil, a, failed(fault.Usage, "expected s3:// or https://, not a file").In(a.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.clients[a.root()]; ok {
		return b, a, nil
	}
	b, err := s.connect(a)
	if err != nil {
		return nil, a, errorAt(a, err)
	}
	if s.clients == nil {
		s.clients = map[string]*client{}
	}
	s.clients[a.root()] = b
	return b, a, nil
}

// connect makes the client of an address. The caller holds the mutex.
func (s *Store) connect(a address) (*client, error) {
	o := s.Options.withDefaults()
	if a.isWeb() {
		return connectWeb(a.String(), s.queries[a.root()], o, s.Scratch)
	}
	values := s.parameters[a.root()]
	if text := values.Get(paramStall); text != "" {
		var err error
		if o.Stall, err = time.ParseDuration(text); err != nil || o.Stall <= 0 {
			return nil, failed(fault.Usage, "expected a time such as 30s for the parameter stall")
		}
	}
	return connect(a.bucket, values, o)
}

// clientForKey is client for the URL of an object that is to be written.
func (s *Store) clientForKey(name string) (*client, address, error) {
	c, a, err := s.client(name)
	if err == nil && a.isWeb() {
		err = readOnly().In(a.String())
	}
	if err == nil {
		err = a.requireKey()
	}
	return c, a, err
}

// Open opens the object with the URL name. The context cancels all requests of the Reader.
func (s *Store) Open(ctx context.Context, name string) (*Reader, error) {
	b, a, err := s.client(name)
	if err != nil {
		return nil, err
	}
	found, err := b.head(ctx, a.key)
	if err != nil {
		return nil, errorAt(a, err)
	}
	return newReader(ctx, b, a, found), nil
}

// Stat describes the object with the URL name, or a folder if there are keys below name.
func (s *Store) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	b, a, err := s.client(name)
	if err != nil {
		return nil, err
	}
	prefix, missing := a.key, error(failed(fault.NotFound, "no key has this prefix"))
	if a.requireKey() == nil {
		found, err := b.head(ctx, a.key)
		if err == nil {
			return info{name: path.Base(a.key), size: found.size, modTime: found.modTime}, nil
		}
		unclear := errors.Is(err, fault.NotFound) || errors.Is(err, fault.Permission) // a folder, or may not see it
		if a.isWeb() || !unclear {
			return nil, errorAt(a, err)
		}
		prefix, missing = a.key+"/", err
	}
	below, err := b.below(ctx, prefix, 1)
	switch {
	case err != nil && (prefix == a.key || errors.Is(err, fault.NotFound)): // NotFound: there is no bucket
		return nil, errorAt(a, err)
	case len(below) == 0:
		return nil, errorAt(a, missing)
	}
	return info{name: path.Base("/" + a.key), folder: true}, nil
}

// ReadDir returns the objects and prefixes directly below the URL name, sorted by name: all, or at
// most limit of them if limit > 0.
func (s *Store) ReadDir(ctx context.Context, name string, limit int) ([]fs.DirEntry, error) {
	b, a, err := s.client(name)
	if err != nil {
		return nil, err
	}
	prefix := a.key
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	infos, err := b.below(ctx, prefix, limit)
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
