package png_test

import (
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/test/sinktest"
)

var _ sink.Sizer = (*png.Sink)(nil)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]png.Options{"images": {}, "metadata.csv": {MetadataCSV: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(t *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
				folder, finish := newFolder(t)
				k, err := png.New(folder, s, o)
				return k, finish, err
			}, sinktest.Images(), sinktest.Unlabelled())
		})
	}
}
