package tar_test

import (
	"bytes"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/tar"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/sinktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	scalars := sinktest.Images()
	scalars.Name, scalars.Rows = "scalars", 70
	for _, d := range idx.DTypes() {
		scalars.Columns = append(scalars.Columns, source.Column{Name: d.String(), DType: d})
	}
	sinktest.Run(t, func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
		var out bytes.Buffer
		k, err := tar.New(&out, s, tar.Options{})
		return k, func() map[string][]byte { return map[string][]byte{"out.tar": out.Bytes()} }, err
	}, sinktest.Images(), sinktest.Unlabelled(), scalars)
}
