package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/sinks"
)

// A formatValue is a [FORMAT=]VALUE argument of --layout or --compression, whose values are
// CODEC[:LEVEL]. Without a format it is for all that accept the value.
type formatValue struct{ format, value string }

// appliesTo reports whether v is for the format f, which accepts these values.
func (v formatValue) appliesTo(f sinks.Format, accepted []string) bool {
	word, _, _ := strings.Cut(v.value, ":")
	return v.format == f.Name || v.format == "" && slices.Contains(accepted, word)
}

// chosenFor returns the element of values for format f, which accepts these values, or zero. One
// that names the format takes precedence.
func chosenFor(values []formatValue, f sinks.Format, accepted []string) (chosen formatValue) {
	for _, v := range values {
		if v.appliesTo(f, accepted) && (chosen.value == "" || v.format != "") {
			chosen = v
		}
	}
	return chosen
}

// parsePerFormat parses the arguments of a flag; accepted returns the values that a format accepts.
func parsePerFormat(flag string, args []string, accepted func(sinks.Format) []string) (
	values []formatValue, err error) {
	for _, arg := range args {
		name, value, named := strings.Cut(arg, "=")
		if !named {
			name, value = "", arg
		} else if f, ok := sinks.Named(name); ok {
			name = f.Name
		} else {
			return nil, unknownFormat(fmt.Sprintf("--%s %s", flag, arg), name)
		}
		v := formatValue{name, value}
		var known []string
		for _, f := range sinks.All() {
			if f.Name == name || !named {
				known = append(known, accepted(f)...)
			}
		}
		// Two values clash only if one format would take both.
		clashes := func(other formatValue) bool {
			return other.format == name && slices.ContainsFunc(sinks.All(), func(f sinks.Format) bool {
				return v.appliesTo(f, accepted(f)) && other.appliesTo(f, accepted(f))
			})
		}
		slices.Sort(known)
		word, _, _ := strings.Cut(value, ":")
		switch {
		case slices.ContainsFunc(values, clashes):
			return nil, usagef("--%s is given twice for the same formats", flag)
		case known == nil:
			return nil, usagef("--%s %s: it does not apply to %s", flag, arg, name)
		case !slices.Contains(known, word):
			return nil, unknown(flag, word, slices.Compact(known))
		}
		values = append(values, v)
	}
	return values, nil
}

// parseCompression parses [FORMAT=]CODEC[:LEVEL] arguments.
func parseCompression(args []string) ([]formatValue, error) {
	values, err := parsePerFormat("compression", args, sinks.Format.Compressions)
	for _, v := range values {
		if _, level, ok := strings.Cut(v.value, ":"); ok && codecOf(v.value).Level == 0 { // no number, or 0
			return nil, usagef("--compression %q: found the level %q, expected a whole number from 1", v.value, level)
		}
	}
	return values, err
}

// codecOf returns the codec CODEC[:LEVEL], with the level 0, the default, if that is no number.
func codecOf(value string) compressed.Codec {
	name, digits, _ := strings.Cut(value, ":")
	level, _ := strconv.Atoi(digits)
	return compressed.Codec{Name: name, Level: level}
}
