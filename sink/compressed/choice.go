package compressed

import (
	"strings"

	"github.com/idxport/idxport/fault"
)

// A Choice is a row of a format's table of codecs: what its data can be compressed with. The first of a table is the default.
type Choice[T any] struct {
	Name     string
	MaxLevel int               // levels are 1 to MaxLevel; 0: it has none
	Make     func(level int) T // level 0 is the codec's default
}

// Names lists the names of table.
func Names[T any](table []Choice[T]) []string {
	names := make([]string, len(table))
	for i, choice := range table {
		names[i] = choice.Name
	}
	return names
}

// Find makes what c asks for; an empty name asks for the first of table. The error is and lists what there is.
func Find[T any](table []Choice[T], c Codec) (found T, err error) {
	if c.Name == "" {
		c.Name = table[0].Name
	}
	for _, choice := range table {
		if choice.Name != c.Name {
			continue
		}
		if c.Level >= 0 && c.Level <= choice.MaxLevel {
			return choice.Make(c.Level), nil
		}
		if choice.MaxLevel == 0 {
			return found, fault.New(fault.Usage, "no such compression: %s has no levels, found %d", c.Name, c.Level)
		}
		return found, fault.New(fault.Usage, "no such compression: level %d of %s, expected 1 to %d, or 0 for the default", c.Level, c.Name, choice.MaxLevel)
	}
	return found, fault.New(fault.Usage, "no such compression: %q, expected one of %s", c.Name, strings.Join(Names(table), ", "))
}
