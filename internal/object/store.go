package object

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// A Store gives access to the objects of a run, from any goroutine. Its zero value is ready.
type Store struct {
	Options Options
	// Warn, if not nil, is called once, from any goroutine, when a server refuses a connection.
	Warn   func(format string, args ...any)
	warned sync.Once

	queries sync.Map // what follows the question mark, by address.root; may be secret
	clients sync.Map // the *client of each bucket and file that was opened, by address.root
}

// ParseArg parses an argument that may be a URL, perhaps after a name or format, as in
// image=s3://…. It returns the argument without the query of the URL, which the store keeps for the
// bucket, or for the file on a web server. Other arguments are returned as they are. ParseArg fails
// with fault.Usage if an earlier URL had another query. URLs of buckets may have none. All
// arguments of a run must be parsed before an object is opened.
func (s *Store) ParseArg(arg string) (string, error) {
	begin := strings.IndexByte(arg, '=') + 1
	if strings.Contains(arg[:begin], "/") { // it is in a path or the URL, not after a name
		begin = 0
	}
	if !text.IsURL(arg[begin:]) {
		return arg, nil
	}
	name, query, found := strings.Cut(arg[begin:], "?")
	a, err := parse(name)
	if err == nil && a.isWeb() {
		query, _, _ = strings.Cut(query, "#")
	} else if err != nil || !found {
		return arg, err
	} else if err := checkQuery(query); err != nil {
		return "", errorAt(a, err)
	}
	if before, _ := s.queries.LoadOrStore(a.root(), query); before != query {
		return "", failed(fault.Usage, "found another text after the question mark than before").In(a.root()).
			WithHint("give the parameters of a bucket once, or download files of a web server under different names")
	}
	return arg[:begin] + name, nil
}

// client returns the client for the URL name. The first use connects it.
func (s *Store) client(name string) (*client, address, error) {
	a, err := parse(name)
	if err != nil {
		return nil, a, err
	}
	if c, ok := s.clients.Load(a.root()); ok {
		return c.(*client), a, nil
	}
	made, err := s.connect(a)
	if err != nil {
		return nil, a, errorAt(a, err)
	}
	c, _ := s.clients.LoadOrStore(a.root(), made) // another goroutine may have made one meanwhile
	return c.(*client), a, nil
}

func (s *Store) connect(a address) (*client, error) {
	o := s.Options
	o = Options{cmp.Or(o.Attempts, 8), cmp.Or(o.Stall, 30*time.Second), cmp.Or(o.partSize, partSize), o.refused}
	if s.Warn != nil {
		o.refused = func(server string) {
			const text = "%s refused the connection; trying again for up to five seconds"
			s.warned.Do(func() { s.Warn(text, scrub(server)) })
		}
	}
	found, _ := s.queries.Load(a.root())
	query, _ := found.(string)
	if a.isWeb() {
		return connectWeb(a.String(), query, o), nil
	}
	values, _ := url.ParseQuery(query) // ParseArg has checked it
	stall, err := time.ParseDuration(cmp.Or(values.Get("stall"), o.Stall.String()))
	if o.Stall = stall; err != nil || stall <= 0 {
		return nil, failed(fault.Usage, "expected a time such as 30s for the parameter stall")
	}
	return connect(a.bucket, values, o, newTransport(o.Stall, o.refused))
}

// Open opens the object with the URL name. The context cancels all requests of the Reader.
func (s *Store) Open(ctx context.Context, name string) (*Reader, error) {
	c, a, err := s.client(name)
	if err != nil {
		return nil, err
	}
	found, err := c.head(ctx, a.key)
	if err != nil {
		return nil, errorAt(a, err)
	}
	r := &Reader{client: c, address: a, version: found, limit: found.size}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r, nil
}

// Stat describes the object with the URL name, or a folder if there are keys below name.
func (s *Store) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	c, a, err := s.client(name)
	if err != nil {
		return nil, err
	}
	prefix, missing := a.key, error(failed(fault.NotFound, "no key has this prefix"))
	if a.hasKey() {
		found, err := c.head(ctx, a.key)
		if err == nil {
			return info{name: path.Base(a.key), size: found.size, modTime: found.modTime}, nil
		}
		unclear := errors.Is(err, fault.NotFound) || errors.Is(err, fault.Permission) // a folder, or may not see it
		if a.isWeb() || !unclear {
			return nil, errorAt(a, err)
		}
		prefix, missing = a.key+"/", err
	}
	below, err := c.list(ctx, prefix, 1)
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
	c, a, err := s.client(name)
	if err != nil {
		return nil, err
	}
	prefix := a.key
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	entries, err := c.list(ctx, prefix, limit)
	if err != nil {
		return nil, errorAt(a, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "" })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}
