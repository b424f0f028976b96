package main

import (
	"cmp"
	_ "embed"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
)

// settings holds the values of all flags. A field has its flag's name without hyphens, or a plural.
type settings struct {
	convert.Options
	Images      int64
	Quiet, JSON bool
}

// flagTable is the table of all flags, from which parsing, checks, help, completion and docs/cli.md
// are made. The flags stand under the headings of the help, in its order. An entry is
//
//	--NAME -SHORT PLACEHOLDER: USAGE
//	= COMMANDS ATTRIBUTES
//	    DETAIL
//
// without a short name, placeholder or detail where there is none; a flag without a placeholder is
// a switch. The attributes are list, for lists with commas; also=NAMES, which are accepted too;
// aka=NAMES, what other programs call it; and range=1..9, the least and the greatest number, or
// range=1.. without a limit. {{Words}} are filled in.
//
//go:embed flags.txt
var flagTable string

// A flagSpec is an entry of the flag table.
type flagSpec struct {
	heading, name, short string
	placeholder          string   // for its value, in the help; empty for a switch
	usage                string   // what it does, in up to 52 characters: a line of help has 80
	detail               string   // more about it, shown by --help-all
	words                []string // its commands and attributes
}

// allFlags returns the entries of the flag table.
var allFlags = sync.OnceValue(func() (all []flagSpec) {
	values := strings.NewReplacer("{{formats}}", strings.Join(sinks.Names(), ", "),
		"{{splittable}}", sinks.List(func(f sinks.Format) bool { return f.Splittable }),
		"{{class column}}", sinks.List(func(f sinks.Format) bool { return f.ClassColumn }),
		"{{largest record}}", strconv.Itoa(convert.MaxRecordBytesLimit),
		"{{workers}}", strconv.Itoa(convert.MaxWorkers))
	heading := ""
	for entry := range strings.SplitSeq(strings.TrimSpace(flagTable), "\n\n") {
		if name, ok := strings.CutPrefix(entry, "# "); ok {
			heading = name
			continue
		}
		if strings.Contains(entry, "{{") { // few do, and a Replacer takes 0.2 ms of each start for all
			entry = values.Replace(entry)
		}
		all = append(all, parseEntry(heading, entry))
	}
	return all
})

func parseEntry(heading, entry string) flagSpec {
	names, rest, _ := strings.Cut(strings.TrimPrefix(entry, "--"), ": ")
	lines := strings.SplitN(rest, "\n", 3)
	f := flagSpec{heading: heading, usage: lines[0], words: strings.Fields(lines[1][1:])}
	for i, word := range strings.Fields(names) {
		switch {
		case i == 0:
			f.name = word
		case word[0] == '-':
			f.short = word
		default:
			f.placeholder = word
		}
	}
	if len(lines) == 3 {
		f.detail = strings.ReplaceAll(strings.TrimSpace(lines[2]), "\n    ", " ")
	}
	return f
}

// has reports whether the entry has the word: a command or an attribute.
func (f flagSpec) has(word string) bool { return slices.Contains(f.words, word) }

// attribute returns the value of the attribute with the name, or "".
func (f flagSpec) attribute(name string) string {
	for _, word := range f.words {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// commands returns the names of the commands that have the flag.
func (f flagSpec) commands() []string {
	return slices.DeleteFunc(slices.Clone(f.words), func(word string) bool {
		return word == "list" || strings.Contains(word, "=")
	})
}

func flagsOf(command string) []flagSpec {
	return slices.DeleteFunc(slices.Clone(allFlags()), func(f flagSpec) bool { return !f.has(command) })
}

// field returns a pointer to the field of s that holds the value of the flag.
func (f flagSpec) field(s *settings) any {
	name := strings.ReplaceAll(f.name, "-", "")
	field := reflect.ValueOf(s).Elem().FieldByNameFunc(func(field string) bool {
		return strings.EqualFold(field, name) || strings.EqualFold(field, name+"s")
	})
	return field.Addr().Interface()
}

// set stores the value of the flag in s.
func (f flagSpec) set(s *settings, value string) (err error) {
	if value == "" {
		return usagef("--%s is empty", f.name).WithHint("perhaps a shell variable is not set")
	}
	switch to := f.field(s).(type) {
	case *string:
		*to = value
	case *[]string:
		if f.has("list") {
			*to = text.List(value)
		} else {
			*to = append(*to, value)
		}
	case *[]int:
		*to, err = f.dims(value)
	case *[2]int:
		var sides []int
		sides, err = f.dims(value)
		copy(to[:], sides)
	case *bool:
		*to, err = f.truth(value)
	case **bool:
		*to = new(bool)
		**to, err = f.truth(value)
	case *int:
		var n int64
		n, err = f.number(value)
		*to = int(n)
	case *int64:
		*to, err = f.number(value)
	}
	return err
}

// truth returns the value of a switch, or of a flag for yes or no.
func (f flagSpec) truth(value string) (bool, error) {
	on, err := strconv.ParseBool(value)
	switch isSwitch := f.placeholder == ""; {
	case isSwitch && err != nil:
		return false, usagef("--%s %q, expected true or false", f.name, value)
	case !isSwitch && value != "yes" && value != "no":
		return false, usagef("--%s %q, expected yes or no", f.name, value)
	}
	return on || value == "yes", nil
}

// number returns the value of a flag for numbers.
func (f flagSpec) number(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	first, last, _ := strings.Cut(f.attribute("range"), "..")
	least, _ := strconv.ParseInt(first, 10, 64)
	most, _ := strconv.ParseInt(cmp.Or(last, strconv.FormatInt(math.MaxInt64, 10)), 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, usagef("--%s %q, expected a whole number", f.name, value)
	case last == "" && n < least:
		return 0, usagef("--%s %s, expected at least %s", f.name, value, first)
	case err != nil || n < least || n > most:
		return 0, usagef("--%s %s, expected %s to %d", f.name, value, first, most)
	}
	return n, nil
}

// dims returns the value of a flag for dimensions, such as -1x28x28.
func (f flagSpec) dims(value string) (dims []int, err error) {
	failed := func(expected string) error {
		example := f.usage[strings.LastIndex(f.usage, " ")+1:] // its usage ends in one
		return usagef("--%s %q, expected %s", f.name, value, expected).WithHint("for example --%s %s", f.name, example)
	}
	elements := int64(1)
	for side := range strings.SplitSeq(strings.NewReplacer("×", "x", ",", "x").Replace(value), "x") {
		d, err := f.number(side)
		if err != nil {
			between := strings.Replace(f.attribute("range"), "..", " to ", 1)
			return nil, failed("numbers from " + between + " with an x between them")
		}
		if elements *= d; f.name == "shape" && elements > math.MaxInt32 {
			return nil, failed("the shape of one record, of up to " + strconv.Itoa(math.MaxInt32) + " elements")
		}
		dims = append(dims, int(d))
	}
	if f.name == "resize" && len(dims) != 2 {
		return nil, failed("a width and a height")
	}
	return dims, nil
}
