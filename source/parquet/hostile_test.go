package parquet

import (
	"encoding/base64"
	"testing"
)

// FuzzMetadata reads what others may have written into a file's metadata: an Arrow schema with offsets that lead anywhere, features of Hugging Face.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte("\xff\xff\xff\xff\x10\x00\x00\x00\x10\x00\x00\x00\x00\x00\x0a\x00\x0c\x00\x06\x00"), `{"info":{"features":{"label":{"names":["a","N/A"],"_type":"ClassLabel"}}}}`)
	f.Add([]byte("\x00\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00"), `{"info":{"features":{"label":{"names":[1],"_type":"ClassLabel"},"x":null}}}`)
	f.Add([]byte{}, `[[[[`)
	f.Fuzz(func(t *testing.T, arrow []byte, hub string) {
		in := &file{meta: map[string]string{arrowSchemaKey: base64.StdEncoding.EncodeToString(arrow), featuresKey: hub}}
		for column, h := range in.hints() {
			if _, ok := product(h.shape); !ok || h.found != (h.shape != nil) {
				t.Errorf("column %q: found the shape %v, told: %t", column, h.shape, h.found)
			}
		}
		for column, names := range in.classNames() {
			for label, name := range names {
				if name == unnamed {
					t.Errorf("column %q: label %d is called %q", column, label, name)
				}
			}
		}
	})
}
