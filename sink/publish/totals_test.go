package publish

import (
	"path/filepath"
	"testing"
)

func TestTotals(t *testing.T) {
	t.Parallel()
	s, err := Prepare([]Target{{Path: filepath.Join(t.TempDir(), "images"), Folder: true}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard()
	for class, data := range map[string]string{"": "one", "7": "two", "8": "three"} {
		c, err := s.Folder(0).Class(class)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WriteFile("0.png", []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if files, bytes := s.Folder(0).Totals(); files != 3 || bytes != 11 {
		t.Errorf("found %d files of %d bytes, expected 3 of 11", files, bytes)
	}
}
