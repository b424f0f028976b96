//go:build lean

package object

import (
	"errors"
	"strings"
	"testing"
)

func TestLeanSaysSo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"s3://b/k", "gs://b/k", "azblob://c/k"} {
		var s Store
		_, err := s.Open(t.Context(), name)
		if !errors.Is(err, ErrBuild) || !strings.Contains(err.Error(), "lean build") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Create(t.Context(), name, true); !errors.Is(err, ErrBuild) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
