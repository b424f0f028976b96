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

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source/dataset"
)

// An outputArg is one -o argument, understood but not yet filled in for the splits.
type outputArg struct {
	path      string           // with {split} and the like; Stdio
	named     bool             // it was given as FORMAT=PATH
	container bool             // path is a folder that gets one output for each split and format
	usesTo    bool             // the formats are those of --to, if it is given
	formats   []formats.Format // one, unless it is a container
	codec     string           // how whole files are compressed, by the name
}

// parseOutputs understands the -o arguments; to is the value of --to. Outputs that are divided are
// folders, whatever they are called.
func parseOutputs(args, to []string, divided bool) ([]outputArg, error) {
	if len(args) == 0 {
		return nil, usagef("no output").WithHint("give a file such as -o mnist.parquet, a folder such as -o out/, or -o csv=- for standard output")
	}
	wanted, err := parseTo(to)
	if err != nil {
		return nil, err
	}
	var outputs []outputArg
	usedTo, streams := false, 0
	for _, arg := range args {
		o, err := parseOutput(arg, wanted, divided)
		if err != nil {
			return nil, err
		}
		usedTo = usedTo || o.usesTo
		if o.path == Stdio {
			streams++
		}
		outputs = append(outputs, o)
	}
	if len(to) > 0 && !usedTo {
		return nil, usagef("--to %s is for output folders and standard output, but there is none among %s", strings.Join(to, ","), strings.Join(args, ", ")).
			WithHint("a folder is written with a slash at its end: -o out/")
	}
	if streams > 1 {
		return nil, usagef("%d outputs go to standard output, expected at most one", streams)
	}
	return outputs, nil
}

// parseTo reads the formats of --to.
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

// parseOutput understands one -o argument.
func parseOutput(arg string, wanted []formats.Format, divided bool) (outputArg, error) {
	if arg == "" {
		return outputArg{}, usagef("-o is empty")
	}
	f, path, named, err := CutFormat(arg)
	if err != nil {
		return outputArg{}, err
	}
	if named {
		return formatOutput(arg, f, path, divided)
	}
	if arg == Stdio {
		if len(wanted) != 1 {
			return outputArg{}, usagef("-o - needs one format").WithHint("for example -o csv=-, or --to csv -o -")
		}
		o, err := formatOutput(arg, wanted[0], Stdio, divided)
		o.usesTo = true
		return o, err
	}
	if !endsAsFolder(arg) {
		if f, codec, ok := formats.ByName(arg); ok {
			return outputArg{path: arg, formats: []formats.Format{f}, codec: codec}, nil
		}
	}
	if !IsFolder(arg) {
		if ext := Extension(arg); ext != "" {
			return outputArg{}, usagef("-o %s: no format is known by the ending %s", arg, ext).
				WithHint("%s", unknownEnding(arg, ext))
		}
	}
	if len(wanted) == 0 {
		parquet, _ := formats.Named("parquet")
		wanted = []formats.Format{parquet}
	}
	return outputArg{path: arg, container: true, usesTo: true, formats: wanted}, nil
}

// CutFormat cuts the FORMAT= off an argument of -o. A word before a = is always a format: a path
// that begins so is written ./WORD=….
func CutFormat(arg string) (f formats.Format, path string, ok bool, err error) {
	word, path, ok := strings.Cut(arg, "=")
	if !ok || strings.ContainsFunc(word, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return f, arg, false, nil
	}
	f, known := formats.Named(word)
	switch {
	case !known:
		unknown := unknownFormat("-o "+arg, word)
		asPath := "a path is written -o " + shell.Path("./"+arg)
		err = unknown.WithHint("%s", strings.TrimSpace(unknown.Hint+" "+asPath))
	case path == "":
		err = usagef("-o %s: the path is empty", arg).WithHint("perhaps a variable of the shell is not set")
	}
	return f, path, true, err
}

// unknownFormat is the error for name in the argument arg, which is no format. The hint also knows
// the endings of files.
func unknownFormat(arg, name string) *fault.Error {
	advice := dataset.DidYouMean(name, formats.Names())
	if f, _, ok := formats.ByName("x." + name); ok {
		advice = fmt.Sprintf("did you mean %s?", f.Name)
	}
	return usagef("%s: unknown format %q, expected one of %s", arg, name, strings.Join(formats.Names(), ", ")).WithHint("%s", advice)
}

// formatOutput is the argument FORMAT=PATH.
func formatOutput(arg string, f formats.Format, path string, divided bool) (outputArg, error) {
	o := outputArg{path: path, named: true, formats: []formats.Format{f}}
	switch {
	case path == Stdio && f.Folder:
		return o, usagef("-o %s: a %s output is a folder, which cannot go to standard output", arg, f.Name)
	case path == Stdio || f.Folder:
	case endsAsFolder(path), IsFolder(path) && !(divided && f.Divisible):
		o.container = true
	case f.Wrapped:
		o.codec = formats.Wrapping(path)
	}
	return o, nil
}

// IsFolder reports whether path means a folder: it ends with a slash, or is a folder.
func IsFolder(path string) bool {
	if endsAsFolder(path) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// endsAsFolder reports whether path ends with a slash, and so means a folder.
func endsAsFolder(path string) bool {
	return strings.HasSuffix(path, "/") || os.IsPathSeparator(path[len(path)-1])
}

// unknownEnding is the hint for an output whose ending ext no format has.
func unknownEnding(arg, ext string) string {
	if f, ok := formats.Named(ext[1:]); ok && f.Folder {
		return fmt.Sprintf("a %s output is a folder: write -o %s=%s", f.Name, f.Name, shell.Quote(strings.TrimSuffix(arg, ext)))
	}
	return fmt.Sprintf("name the format (-o parquet=%s), use one of %s, or write %s for a folder", shell.Quote(arg), strings.Join(endings(), " "), shell.Path(arg+"/"))
}

// Extension is the ending of a path, in which {split} and the like are not filled in yet.
func Extension(path string) string { return filepath.Ext(placeholder().ReplaceAllString(path, "")) }

// endings lists how files of the known formats end.
func endings() []string {
	var all []string
	for _, f := range formats.All() {
		if f.Extension != "" {
			all = append(all, f.Extension)
		}
	}
	return all
}

// placeholder matches what is filled in for each output.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{[a-z]*\}`)
})

// fill puts the values of an output into its path.
func fill(path string, values map[string]string) (string, error) {
	var err error
	filled := placeholder().ReplaceAllStringFunc(path, func(p string) string {
		v, ok := values[p[1:len(p)-1]]
		if !ok {
			err = usagef("-o %s: unknown placeholder %s, expected {split}, {dataset} or {format}", path, p)
		}
		if ok && v == "" {
			err = usagef("-o %s: %s is not known for this input", path, p).WithHint("say it with --%s, or write the name", p[1:len(p)-1])
		}
		return v
	})
	return filled, err
}

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
	return unknown("compression", codec, slices.Compact(known))
}

// unknown is the error for a name that is none of those known.
func unknown(what, name string, known []string) error {
	return usagef("unknown %s %q, expected one of %s", what, name, strings.Join(known, ", ")).WithHint("%s", dataset.DidYouMean(name, known))
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
			return nil, unknown("layout", name, slices.Compact(known))
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
