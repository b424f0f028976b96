package object

import (
	"maps"
	"net/url"
	"strings"
)

// Parameters are what URLs asked for, as queries by the URL of their bucket: another process gives them to Suppose. None of them is a secret. What is about a run, and not
// about where the bucket is, is left out.
func (s *Store) Parameters() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.asked))
	for root, values := range s.asked {
		values = maps.Clone(values)
		delete(values, paramStall) // it is about a run
		if text := values.Encode(); text != "" && !strings.HasPrefix(root, "file://") {
			all[root] = text
		}
	}
	return all
}

// Suppose takes parameters for the buckets for which no URL asked for any; one that asked for some has all that it needs. Buckets that were opened without any are opened anew.
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
		if s.asked == nil {
			s.asked = map[string]url.Values{}
		}
		if _, ok := s.asked[a.root()]; !ok {
			s.asked[a.root()] = values
			delete(s.buckets, a.root())
		}
		s.mu.Unlock()
	}
	return nil
}
