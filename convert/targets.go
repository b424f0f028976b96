package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
)

// A target is a parsed -o argument, whose placeholders are not filled in yet.
type target struct {
	path      string         // with placeholders such as {split}; Stdio for standard output
	named     bool           // it was given as FORMAT=PATH
	container bool           // path is a folder that gets one output for each split and format
	formats   []sinks.Format // one, unless it is a container
	codec     string         // compression of the whole file, from its name
}

// parseTargets parses the -o arguments and --to. Sharded outputs are folders, whatever their names.
func parseTargets(s *object.Store, o Options, parts int64) (targets []target, err error) {
	wanted, err := parseTo(o.To)
	if err != nil {
		return nil, err
	}
	usesTo := false
	for _, arg := range o.Outputs {
		if arg, err = s.ParseArg(arg); err != nil {
			return nil, err
		}
		t, err := parseTarget(arg, wanted, o.RowsPerFile > 0)
		if err != nil {
			return nil, err
		}
		if err := checkPlaceholders(t.path); err != nil {
			return nil, err
		}
		if parts > 1 && (o.Overwrite || o.IfChanged) && t.path != Stdio && !strings.Contains(t.path, "{part}") {
			return nil, usagef("-o %s: all parts would replace one output, expected {part} in it", t.path).
				WithHint("write -o %s", t.inserted("-{part}"))
		}
		usesTo = usesTo || !t.named && (t.container || t.path == Stdio)
		targets = append(targets, t)
	}
	if len(o.To) > 0 && !usesTo {
		return nil, usagef("--to %s has no effect: %s already has a format",
			strings.Join(o.To, ","), strings.Join(o.Outputs, ", ")).
			WithHint("--to is for folders, such as -o out/, and for -o -")
	}
	return targets, nil
}

// parseTo parses the formats of --to.
func parseTo(to []string) (wanted []sinks.Format, err error) {
	for _, name := range to {
		f, ok := sinks.Named(strings.TrimSpace(name))
		if !ok {
			return nil, unknownFormat("--to "+strings.Join(to, ","), strings.TrimSpace(name))
		}
		wanted = append(wanted, f)
	}
	return wanted, nil
}

// parseTarget parses one -o argument; wanted are the formats of --to.
func parseTarget(arg string, wanted []sinks.Format, sharded bool) (target, error) {
	if arg == "" {
		return target{}, usagef("-o is empty").WithHint("perhaps a shell variable is not set")
	}
	f, path, named, err := cutFormat(arg)
	switch {
	case err != nil:
		return target{}, err
	case named:
		return formatTarget(arg, f, path, true, sharded)
	case arg == Stdio && len(wanted) != 1:
		return target{}, usagef("-o - needs one format").WithHint("for example -o csv=-, or --to csv -o -")
	case arg == Stdio:
		return formatTarget(arg, wanted[0], arg, false, sharded)
	}
	f, codec, known := sinks.ByName(arg)
	if known && !endsAsFolder(arg) {
		return target{path: arg, formats: []sinks.Format{f}, codec: codec}, nil
	}
	if ext := extension(arg); ext != "" && !isFolder(arg) {
		return target{}, unknownExtension(arg, ext)
	}
	if len(wanted) == 0 {
		parquet, _ := sinks.Named("parquet")
		wanted = []sinks.Format{parquet}
	}
	return target{path: arg, container: true, formats: wanted}, nil
}

// cutFormat splits an -o argument of the form FORMAT=PATH; ok is false if it has another form. A
// word before a = is always taken for a format: a path that begins like that is written ./WORD=….
func cutFormat(arg string) (f sinks.Format, path string, ok bool, err error) {
	word, path, ok := strings.Cut(arg, "=")
	inPath := func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if !ok || strings.ContainsFunc(word, inPath) {
		return f, arg, false, nil
	}
	f, known := sinks.Named(word)
	switch {
	case !known:
		unknown := unknownFormat("-o "+arg, word)
		asPath := "for a path that contains =, write -o " + text.Path("./"+arg)
		err = unknown.WithHint("%s", strings.TrimSuffix(asPath+"; "+unknown.Hint, "; "))
	case path == "":
		err = usagef("-o %s: the path is empty", arg).WithHint("perhaps a shell variable is not set")
	}
	return f, path, true, err
}

// formatTarget returns the target of an argument whose format is known; named means that it is
// FORMAT=PATH.
func formatTarget(arg string, f sinks.Format, path string, named, sharded bool) (target, error) {
	if path == Stdio && f.Name == "arrow" { // no reader of a pipe can seek in it
		f, _ = sinks.Named("arrows")
	}
	t := target{path: path, named: named, formats: []sinks.Format{f}}
	_, _, hasExtension := sinks.ByName(path)
	switch {
	case path == Stdio && f.Folder:
		return t, usagef("-o %s: a %s output is a folder, which cannot go to standard output", arg, f.Name)
	case path == Stdio || f.Folder:
	case endsAsFolder(path), isFolder(path) && !hasExtension && !(sharded && f.Splittable):
		t.container = true
	case f.Compressible:
		t.codec = sinks.CompressionByName(path)
	}
	return t, nil
}

// inserted returns the argument of a target, quoted for a shell, with more at the end of its name.
func (t target) inserted(more string) string {
	stem, ext := sinks.SplitName(strings.TrimRight(t.path, "/"))
	if t.named {
		stem = t.formats[0].Name + "=" + stem
	}
	return text.Path(stem + more + ext)
}

// unknownFormat returns the error for the unknown format name in arg. If name is a file extension,
// the hint names its format, or the tool that writes such files.
func unknownFormat(arg, name string) *fault.Error {
	advice := dataset.DidYouMean(name, sinks.Names())
	if hint := Alternative("." + name); hint != "" {
		advice = hint
	} else if f, _, ok := sinks.ByName("x." + name); ok {
		advice = fmt.Sprintf("did you mean %s?", f.Name)
	}
	return usagef("%s: unknown format %q, expected one of %s", arg, name, strings.Join(sinks.Names(), ", ")).
		WithHint("%s", advice)
}

// unknownExtension returns the error for an output whose name has an unknown file extension.
func unknownExtension(arg, ext string) error {
	inner := strings.TrimSuffix(arg, ext)
	file, _, known := sinks.ByName(inner)
	advice := Alternative(ext)
	switch {
	case known && file.Compressible:
		advice = fmt.Sprintf("write -o %s or -o %s", text.Path(inner+".gz"), text.Path(inner+".zst"))
	case known:
		advice = fmt.Sprintf("write -o %s; --compression compresses Parquet and Arrow", text.Path(inner))
	case ext == ".png":
		advice = "a png output is a folder: write -o png=" + text.Quote(inner)
	case advice == "":
		var extensions []string
		for _, f := range sinks.All() {
			if f.Extension != "" {
				extensions = append(extensions, f.Extension)
			}
		}
		advice = fmt.Sprintf("name the format (-o parquet=%s), use one of %s, or write %s for a folder",
			text.Quote(arg), strings.Join(extensions, " "), text.Path(arg+"/"))
	}
	return usagef("-o %s: unknown file extension %s", arg, ext).WithHint("%s", advice)
}

// isFolder reports whether path ends with a slash, or is an existing folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return endsAsFolder(path) || err == nil && info.IsDir()
}

// endsAsFolder reports whether path ends with a slash.
func endsAsFolder(path string) bool {
	return strings.HasSuffix(path, "/") || os.IsPathSeparator(path[len(path)-1])
}

// extension returns the file extension of a path, ignoring the placeholders in it.
func extension(path string) string { return filepath.Ext(placeholder().ReplaceAllString(path, "")) }

// placeholder matches a placeholder, such as {split}, in the path of an output, and also unknown
// ones, which are refused.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z]*\}`) })

// checkPlaceholders returns an error if a path has an unknown placeholder.
func checkPlaceholders(path string) error {
	for _, p := range placeholder().FindAllString(path, -1) {
		if p != "{split}" && p != "{format}" && p != "{part}" {
			return usagef("-o %s: unknown placeholder %s, expected one of {format}, {part}, {split}", path, p)
		}
	}
	return nil
}

// A formatValue is a [FORMAT=]VALUE[:DETAIL] argument. Without a format it is for all that can have
// the value.
type formatValue struct{ format, value string }

// appliesTo reports whether v is for the format f, which accepts these values.
func (v formatValue) appliesTo(f sinks.Format, accepted []string) bool {
	word, _, _ := strings.Cut(v.value, ":")
	return v.format == f.Name || v.format == "" && slices.Contains(accepted, word)
}

// valueFor returns the value for format f, which accepts these values, or "". One that names the
// format comes first.
func valueFor(values []formatValue, f sinks.Format, accepted []string) (value string) {
	for _, v := range values {
		if v.appliesTo(f, accepted) && (value == "" || v.format != "") {
			value = v.value
		}
	}
	return value
}

// parsePerFormat parses the arguments of a flag; accepted returns the values for a format.
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
		var known []string
		v, twice := formatValue{name, value}, false
		for _, f := range sinks.All() {
			if f.Name != name && named {
				continue
			}
			known = append(known, accepted(f)...)
			twice = twice || v.appliesTo(f, accepted(f)) && slices.ContainsFunc(values, func(other formatValue) bool {
				return other.format == name && other.appliesTo(f, accepted(f))
			})
		}
		slices.Sort(known)
		word, _, _ := strings.Cut(value, ":")
		switch {
		case twice:
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
		if _, level, ok := strings.Cut(v.value, ":"); ok && codecOf(v.value).Level == 0 {
			return nil, usagef("--compression %q: found the level %q, expected a whole number from 1", v.value, level)
		}
	}
	return values, err
}

// codecOf returns the codec CODEC[:LEVEL]; the sinks check its level, where 0 is the default.
func codecOf(value string) compressed.Codec {
	name, text, _ := strings.Cut(value, ":")
	level, _ := strconv.Atoi(text)
	return compressed.Codec{Name: name, Level: level}
}
