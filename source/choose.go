package source

import "slices"

// chosen is a table one of whose columns was chosen as the label.
type chosen struct {
	wrapped
	columns []Column
}

// ChooseLabel is t with its column i marked as the label, and with the names of its classes, if any are given.
func ChooseLabel(t Table, i int, classes []string) Table {
	columns := slices.Clone(t.Columns())
	columns[i].Label = true
	if classes != nil {
		columns[i].Classes = classes
	}
	return chosen{wrapped{t}, columns}
}

func (c chosen) Columns() []Column { return c.columns }
