//go:build lean

package object

import (
	"errors"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

func TestLeanSaysSo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"s3://bkt/k", "https://example.org/k"} {
		var s Store
		_, err := s.Open(t.Context(), name)
		if !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), "lean build") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Create(t.Context(), name, true); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
