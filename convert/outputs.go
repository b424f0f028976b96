package convert

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source/dataset"
)

// An outputArg is a parsed -o argument, whose placeholders are not filled in yet.
type outputArg struct {
	path      string           // with placeholders such as {split}; Stdio for standard output
	named     bool             // it was given as FORMAT=PATH
	container bool             // path is a folder that gets one output for each split and format
	formats   []formats.Format // one, unless it is a container
	codec     string           // compression of the whole file, from its name
}

// parseOutputs parses the -o arguments; to is the value of --to. Sharded outputs are folders,
// whatever their names.
func parseOutputs(args, to []string, sharded bool) (outputs []outputArg, err error) {
	if len(args) == 0 {
		return nil, usagef("no output").WithHint("give a file such as -o mnist.parquet, a folder such as -o out/, or -o csv=- for standard output")
	}
	wanted, err := parseTo(to)
	if err != nil {
		return nil, err
	}
	streams := 0
	for _, arg := range args {
		o, err := parseOutput(arg, wanted, sharded)
		if err != nil {
			return nil, err
		}
		if o.path == Stdio {
			streams++
		}
		outputs = append(outputs, o)
	}
	if len(to) > 0 && !slices.ContainsFunc(outputs, func(o outputArg) bool { return !o.named && (o.container || o.path == Stdio) }) {
		return nil, usagef("--to %s has no effect: %s already has a format", strings.Join(to, ","), strings.Join(args, ", ")).
			WithHint("--to is for folders, such as -o out/, and for -o -")
	}
	if streams > 1 {
		return nil, usagef("%d outputs go to standard output, expected at most one", streams)
	}
	return outputs, nil
}

// parseTo parses the formats of --to.
func parseTo(to []string) (wanted []formats.Format, err error) {
	for _, name := range to {
		f, ok := formats.Named(strings.TrimSpace(name))
		if !ok {
			return nil, unknownFormat("--to "+strings.Join(to, ","), strings.TrimSpace(name))
		}
		if slices.ContainsFunc(wanted, func(w formats.Format) bool { return w.Name == f.Name }) {
			return nil, usagef("--to %s: %s is given twice", strings.Join(to, ","), f.Name)
		}
		wanted = append(wanted, f)
	}
	return wanted, nil
}

// parseOutput parses one -o argument.
func parseOutput(arg string, wanted []formats.Format, sharded bool) (outputArg, error) {
	if arg == "" {
		return outputArg{}, usagef("-o is empty").WithHint("perhaps a shell variable is not set")
	}
	f, path, named, err := cutFormat(arg)
	if err != nil {
		return outputArg{}, err
	}
	if named {
		return formatOutput(arg, f, path, sharded)
	}
	if arg == Stdio {
		if len(wanted) != 1 {
			return outputArg{}, usagef("-o - needs one format").WithHint("for example -o csv=-, or --to csv -o -")
		}
		o, err := formatOutput(arg, wanted[0], Stdio, sharded)
		o.named = false
		return o, err
	}
	if !endsAsFolder(arg) {
		if f, codec, ok := formats.ByName(arg); ok {
			return outputArg{path: arg, formats: []formats.Format{f}, codec: codec}, nil
		}
	}
	if ext := extension(arg); ext != "" && !isFolder(arg) {
		return outputArg{}, unknownExtension(arg, ext)
	}
	if len(wanted) == 0 {
		parquet, _ := formats.Named("parquet")
		wanted = []formats.Format{parquet}
	}
	return outputArg{path: arg, container: true, formats: wanted}, nil
}

// checkPart returns an error if several parts would be written to the path of the argument, or if
// it has the placeholder {part} although there is none.
func (o outputArg) checkPart(given bool, p part) error {
	has := strings.Contains(o.path, "{part}")
	if has && !given {
		return usagef("-o %s: {part} is not known without --part", o.path).
			WithHint("give it with --part I/N, or write a name in its place")
	}
	if p.n == 1 || has || o.path == Stdio {
		return nil
	}
	stem, ext := formats.SplitName(strings.TrimRight(o.path, "/"))
	if o.named {
		stem = o.formats[0].Name + "=" + stem
	}
	return usagef("-o %s: all parts would be written to one path, expected {part} in it", o.path).
		WithHint("write -o %s", shell.Path(stem+"/part-{part}"+ext))
}

// cutFormat splits an -o argument of the form FORMAT=PATH; ok is false if it has another form. A
// word before a = is always taken for a format: a path that begins like that is written ./WORD=….
func cutFormat(arg string) (f formats.Format, path string, ok bool, err error) {
	word, path, ok := strings.Cut(arg, "=")
	if !ok || strings.ContainsFunc(word, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return f, arg, false, nil
	}
	f, known := formats.Named(word)
	switch {
	case !known:
		unknown := unknownFormat("-o "+arg, word)
		asPath := "for a path that contains =, write -o " + shell.Path("./"+arg)
		hint := strings.TrimSpace(unknown.Hint + " " + asPath)
		if Alternative("."+word) != "" {
			hint = asPath + "; " + unknown.Hint // which ends with a line of Python
		}
		err = unknown.WithHint("%s", hint)
	case path == "":
		err = usagef("-o %s: the path is empty", arg).WithHint("perhaps a shell variable is not set")
	}
	return f, path, true, err
}

// unknownFormat returns the error for the unknown format name in arg. If name is a file extension,
// the hint names its format, or the tool that writes such files.
func unknownFormat(arg, name string) *fault.Error {
	advice := dataset.DidYouMean(name, formats.Names())
	if hint := Alternative("." + name); hint != "" {
		advice = hint
	} else if f, _, ok := formats.ByName("x." + name); ok {
		advice = fmt.Sprintf("did you mean %s?", f.Name)
	}
	return usagef("%s: unknown format %q, expected one of %s", arg, name, strings.Join(formats.Names(), ", ")).WithHint("%s", advice)
}

// formatOutput returns the output of the argument FORMAT=PATH.
func formatOutput(arg string, f formats.Format, path string, sharded bool) (outputArg, error) {
	o := outputArg{path: path, named: true, formats: []formats.Format{f}}
	_, _, hasExtension := formats.ByName(path)
	switch {
	case path == Stdio && f.Folder:
		return o, usagef("-o %s: a %s output is a folder, which cannot go to standard output", arg, f.Name)
	case path == Stdio || f.Folder:
	case endsAsFolder(path), isFolder(path) && !hasExtension && !(sharded && f.Splittable):
		o.container = true
	case f.Compressible:
		o.codec = formats.CompressionByName(path)
	}
	return o, nil
}

// isFolder reports whether path ends with a slash, or is an existing folder.
func isFolder(path string) bool {
	if endsAsFolder(path) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// endsAsFolder reports whether path ends with a slash.
func endsAsFolder(path string) bool {
	return strings.HasSuffix(path, "/") || os.IsPathSeparator(path[len(path)-1])
}

// unknownExtension returns the error for an output whose name has an unknown file extension.
func unknownExtension(arg, ext string) error {
	if strings.HasSuffix(arg, ".{format}") {
		return usagef("-o %s: the format is not known", arg).WithHint("write -o csv=%s -o parquet=%[1]s, or a folder: -o out/ --to csv,parquet", shell.Quote(arg))
	}
	inner := strings.TrimSuffix(arg, ext)
	if f, _, ok := formats.ByName(inner); ok && (ext == ".gz" || ext == ".zst") {
		advice := "; --compression compresses it"
		if f.Codecs == nil {
			advice = ""
		}
		return usagef("-o %s: %s files do not end in %s", arg, f.Name, ext).WithHint("write -o %s%s", shell.Path(inner), advice)
	}
	if _, _, ok := formats.ByName(inner + ".gz"); ok && (ext == ".xz" || ext == ".bz2") {
		return usagef("-o %s: idxport cannot write %s", arg, ext[1:]).WithHint("write -o %s or -o %s", shell.Path(inner+".gz"), shell.Path(inner+".zst"))
	}
	if _, known := formats.Named(ext[1:]); known && filepath.Base(arg) == ext {
		return usagef("-o %s: the file name is only an extension", arg).WithHint("write -o %s", shell.Path(strings.TrimSuffix(arg, ext)+"data"+ext))
	}
	return usagef("-o %s: unknown file extension %s", arg, ext).WithHint("%s", adviseExtension(arg, ext))
}

// adviseExtension returns the hint for an output with an unknown file extension.
func adviseExtension(arg, ext string) string {
	if hint := Alternative(ext); hint != "" {
		return hint
	}
	if f, ok := formats.Named(ext[1:]); ok && f.Folder {
		return fmt.Sprintf("a %s output is a folder: write -o %s=%s", f.Name, f.Name, shell.Quote(strings.TrimSuffix(arg, ext)))
	}
	var extensions []string
	for _, f := range formats.All() {
		if f.Extension != "" {
			extensions = append(extensions, f.Extension)
		}
	}
	return fmt.Sprintf("name the format (-o parquet=%s), use one of %s, or write %s for a folder",
		shell.Quote(arg), strings.Join(extensions, " "), shell.Path(arg+"/"))
}

// extension returns the file extension of a path, ignoring the placeholders in it.
func extension(path string) string { return filepath.Ext(placeholder().ReplaceAllString(path, "")) }

// placeholder matches a placeholder, such as {split}, in the path of an output, and also unknown
// ones, which fill refuses.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z]*\}`) })

// fill replaces the placeholders in the path of an output by their values.
func fill(path string, values map[string]string) (string, error) {
	var err error
	filled := placeholder().ReplaceAllStringFunc(path, func(p string) string {
		v, ok := values[p[1:len(p)-1]]
		if !ok {
			known := strings.Join(slices.Sorted(maps.Keys(values)), "}, {")
			err = usagef("-o %s: unknown placeholder %s, expected one of {%s}", path, p, known)
		}
		return v
	})
	return filled, err
}

// parsePerFormat parses the [FORMAT=]VALUE arguments of a flag and returns the values by format.
// The key of a value without a format is "".
func parsePerFormat(flag string, args []string) (map[string]string, error) {
	values := map[string]string{}
	for _, arg := range args {
		format, value, ok := strings.Cut(arg, "=")
		if !ok {
			format, value = "", arg
		} else if f, known := formats.Named(format); known {
			format = f.Name
		} else {
			return nil, unknownFormat(fmt.Sprintf("--%s %s", flag, arg), format)
		}
		if _, twice := values[format]; twice {
			return nil, usagef("--%s is given twice for the same formats", flag)
		}
		values[format] = value
	}
	return values, nil
}

// checkValue returns an error unless the format accepts the value of a flag or, if format is "",
// any format does.
func checkValue(flag, format, value string, accepted func(formats.Format) []string) error {
	var known []string
	for _, f := range formats.All() {
		if f.Name == format || format == "" {
			known = append(known, accepted(f)...)
		}
	}
	slices.Sort(known)
	switch {
	case known == nil:
		return usagef("--%s %s=%s: --%[1]s does not apply to %[2]s", flag, format, value)
	case !slices.Contains(known, value):
		return unknown(flag, value, slices.Compact(known))
	}
	return nil
}

// unknown returns the error for a name that is not in known; kind is the noun for such names.
func unknown(kind, name string, known []string) error {
	return usagef("unknown %s %q, expected one of %s", kind, name, strings.Join(known, ", ")).WithHint("%s", dataset.DidYouMean(name, known))
}

// parseCompression parses [FORMAT=]CODEC[:LEVEL] arguments.
func parseCompression(args []string) (map[string]compressed.Codec, error) {
	values, err := parsePerFormat("compression", args)
	if err != nil {
		return nil, err
	}
	codecs := map[string]compressed.Codec{}
	for _, format := range slices.Sorted(maps.Keys(values)) {
		name, level, leveled := strings.Cut(values[format], ":")
		err := checkValue("compression", format, name, func(f formats.Format) []string {
			if format == "" { // for the formats that compress their contents
				return f.Codecs
			}
			return CodecsOf(f)
		})
		if err != nil {
			return nil, err
		}
		codec := compressed.Codec{Name: name}
		if leveled {
			limit, ok := map[string]int{"gzip": 9, "zstd": 22}[name]
			switch codec.Level, err = strconv.Atoi(level); { // the sinks check levels other than 0
			case err != nil:
				return nil, usagef("--compression %q: level %q is not a whole number", values[format], level)
			case codec.Level == 0 && !ok: // 0 stands for the default in a Codec
				return nil, usagef("--compression %q: %s has no levels", values[format], name)
			case codec.Level == 0:
				return nil, usagef("--compression %q: found level 0, expected 1 to %d", values[format], limit)
			}
		}
		codecs[format] = codec
	}
	return codecs, nil
}

// CodecsOf returns the codecs that --compression accepts for f, nil if f cannot be compressed.
func CodecsOf(f formats.Format) []string {
	if f.Compressible {
		return []string{"none", "gzip", "zstd"}
	}
	return f.Codecs
}

// parseLayouts parses [FORMAT=]NAME arguments.
func parseLayouts(args []string) (map[string]string, error) {
	layouts, err := parsePerFormat("layout", args)
	for _, format := range slices.Sorted(maps.Keys(layouts)) {
		if err == nil {
			err = checkValue("layout", format, layouts[format], func(f formats.Format) []string { return f.Layouts })
		}
	}
	return layouts, err
}
