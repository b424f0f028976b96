package formats

import (
	"context"
	"io"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// ClassNames is the text file of the class names of a label, one per line, that accompanies IDX
// files, which cannot store them. The flag --classes reads it.
func ClassNames() Format {
	return Format{Name: "classes", Beside: true, load: line(""),
		open: stream(func(w io.Writer, s *schema.Schema, o Options) (*classNames, error) {
			return &classNames{w, s.Columns[o.Column].Classes}, nil
		})}
}

// classNames is the sink of ClassNames, which ignores the rows.
type classNames struct {
	to    io.Writer
	names []string
}

func (c *classNames) Encode(context.Context, schema.Batch) (step func() error, err error) {
	return func() error { return nil }, nil
}

func (c *classNames) Close() error {
	_, err := io.WriteString(c.to, strings.Join(c.names, "\n")+"\n")
	return err
}

var _ sink.Sink = (*classNames)(nil)
