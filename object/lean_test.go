//go:build lean

package object

import (
	"errors"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
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
		r := PendingUpload{CRC32: "AAAAAA=="}
		_, getErr := s.Get(t.Context(), name, 1)
		for what, err := range map[string]error{
			"Publish": s.Publish(t.Context(), name, r), "Check": s.Check(t.Context(), name, r),
			"Abort": s.Abort(t.Context(), name, r), "Sweep": s.Sweep(t.Context(), name, nil), "Put": s.Put(t.Context(), name, nil, true),
			"Remove": s.Remove(t.Context(), name), "Get": getErr,
		} {
			if !errors.Is(err, fault.Usage) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}
