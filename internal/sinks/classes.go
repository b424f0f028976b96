package sinks

import (
	"context"
	"io"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
)

// ClassNames is the file of class names, one per line, beside IDX files, which cannot store them.
func ClassNames() Format {
	return Format{Name: "classes", Beside: true,
		open: stream(func(w io.Writer, s *schema.Schema, o Options) (*classNames, error) {
			for _, name := range s.Columns[o.Column].Classes {
				if strings.ContainsAny(name, "\r\n") {
					return nil, fault.New(fault.Usage, "found the class name %q, expected one line", name).
						WithHint("write names of one line: --classes FILE, and perhaps --label-column")
				}
			}
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
