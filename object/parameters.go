package object

import (
	"maps"
	"net/url"
)

// Parameters are what URLs asked for, as queries by the URL of their bucket: another process gives them to Suppose. None of them is a secret.
func (s *Store) Parameters() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.asked))
	for root, values := range s.asked {
		all[root] = values.Encode()
	}
	return all
}

// Suppose takes parameters for the buckets for which no URL asked for any.
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
			s.asked[a.root()] = maps.Clone(values)
		}
		s.mu.Unlock()
	}
	return nil
}
