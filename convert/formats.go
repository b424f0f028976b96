package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source/dataset"
)

// parseCompression reads [FORMAT=]CODEC[:LEVEL] arguments.
func parseCompression(args []string) (map[string]compressed.Codec, error) {
	codecs := map[string]compressed.Codec{}
	for _, arg := range args {
		format, value, err := splitFormat("compression", arg)
		if err != nil {
			return nil, err
		}
		name, level, leveled := strings.Cut(value, ":")
		codec := compressed.Codec{Name: name}
		if leveled {
			if codec.Level, err = strconv.Atoi(level); err != nil {
				return nil, usagef("--compression %q: level %q is no whole number", arg, level)
			}
		}
		if _, twice := codecs[format]; twice {
			return nil, usagef("--compression is given twice for the same formats")
		}
		if err := checkCodec(format, name); err != nil {
			return nil, err
		}
		if last, ok := map[string]int{"gzip": 9, "zstd": 22}[name]; leveled && codec.Level == 0 { // which is the default of a Codec
			if !ok {
				return nil, usagef("--compression %q: %s has no levels", arg, name)
			}
			return nil, usagef("--compression %q: level 0, expected 1 to %d", arg, last)
		}
		codecs[format] = codec
	}
	return codecs, nil
}

// checkCodec demands that a format that the argument is for knows the codec.
func checkCodec(format, codec string) error {
	var known []string
	for _, f := range formats.All() {
		if f.Name == format || format == "" && f.Codecs != nil {
			known = append(known, CodecsOf(f)...)
		}
	}
	if slices.Contains(known, codec) {
		return nil
	}
	if known == nil {
		return usagef("--compression %s=%s: %s has no compression of its own", format, codec, format)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return usagef("unknown compression %q, expected one of %s", codec, strings.Join(known, ", ")).WithHint("%s", dataset.DidYouMean(codec, known))
}

// CodecsOf are the codecs that --compression takes for f; nil if it has no compression of its own.
func CodecsOf(f formats.Format) []string {
	if f.Wrapped {
		return []string{"none", "gzip", "zstd"}
	}
	return f.Codecs
}

// parseLayouts reads [FORMAT=]NAME arguments.
func parseLayouts(args []string) (map[string]string, error) {
	layouts := map[string]string{}
	for _, arg := range args {
		format, name, err := splitFormat("layout", arg)
		if err != nil {
			return nil, err
		}
		if _, twice := layouts[format]; twice {
			return nil, usagef("--layout is given twice for the same formats")
		}
		var known []string
		for _, f := range formats.All() {
			if f.Name == format || format == "" {
				known = append(known, f.Layouts...)
			}
		}
		if known == nil {
			return nil, usagef("--layout %s=%s: %s has no layouts", format, name, format)
		}
		if !slices.Contains(known, name) {
			slices.Sort(known)
			known = slices.Compact(known)
			return nil, usagef("unknown layout %q, expected one of %s", name, strings.Join(known, ", ")).WithHint("%s", dataset.DidYouMean(name, known))
		}
		layouts[format] = name
	}
	return layouts, nil
}

// splitFormat cuts the FORMAT= off an argument of flag.
func splitFormat(flag, arg string) (format, value string, err error) {
	format, value, ok := strings.Cut(arg, "=")
	if !ok {
		return "", arg, nil
	}
	f, known := formats.Named(format)
	if !known {
		return "", "", unknownFormat(fmt.Sprintf("--%s %s", flag, arg), format)
	}
	return f.Name, value, nil
}
