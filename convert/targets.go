package convert

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

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
	formats   []sinks.Format // one, unless it is a container or ends in .{format}
	codec     string         // compression of the whole file, from its name
}

// parseTargets parses the -o arguments and --to. parts is the N of --part, or 1.
func parseTargets(s *object.Store, o Options, parts int64) (targets []target, err error) {
	var wanted []sinks.Format
	for _, name := range o.To {
		f, ok := sinks.Named(strings.TrimSpace(name))
		if !ok {
			return nil, unknownFormat("--to "+strings.Join(o.To, ","), name)
		}
		wanted = append(wanted, f)
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
		if parts > 1 && (o.Overwrite || o.IfChanged) && t.path != Stdio && !strings.Contains(t.path, "{part}") {
			return nil, usagef("-o %s: all parts would replace one output, expected {part} in it", t.path).
				WithHint("write -o %s", t.inserted("-{part}"))
		}
		usesTo = usesTo || !t.named && (t.container || t.path == Stdio || strings.HasSuffix(t.path, "{format}"))
		targets = append(targets, t)
	}
	if len(o.To) > 0 && !usesTo {
		return nil, usagef("--to %s has no effect: %s already has a format",
			strings.Join(o.To, ","), strings.Join(o.Outputs, ", ")).
			WithHint("--to is for folders, such as -o out/, for -o - and for -o NAME.{format}")
	}
	return targets, nil
}

// parseTarget parses one -o argument; wanted are the formats of --to. sharded means that
// --rows-per-file is given: each output is then a folder of part files, whatever its name.
func parseTarget(arg string, wanted []sinks.Format, sharded bool) (target, error) {
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
	switch ext := extension(arg); {
	case known && !endsAsFolder(arg): // also if there is a folder of this name: see --rows-per-file
		return target{path: arg, formats: []sinks.Format{f}, codec: codec}, nil
	case ext == "." && strings.HasSuffix(arg, ".{format}") && len(wanted) > 0: // a file of each format
		return target{path: arg, formats: wanted, codec: codec}, nil
	case ext != "" && !namesFolder(arg):
		return target{}, unknownExtension(arg, ext)
	}
	if len(wanted) == 0 {
		parquet, _ := sinks.Named("parquet")
		wanted = []sinks.Format{parquet}
	}
	if info, err := os.Stat(arg); err == nil && !info.IsDir() {
		return target{}, usagef("-o %s: found a file, expected a folder, or the format of the file", arg).
			WithHint("write -o %s=%s", wanted[0].Name, text.Quote(arg))
	}
	return target{path: arg, container: true, formats: wanted}, nil
}

// cutFormat checks an -o argument, and splits it if it is FORMAT=PATH: named. A word before a = is
// always taken for a format: a path that begins like that is written ./WORD=….
func cutFormat(arg string) (f sinks.Format, path string, named bool, err error) {
	word, path, named := strings.Cut(arg, "=")
	inNoWord := func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if !named || strings.ContainsFunc(word, inNoWord) {
		return f, arg, false, checkTarget(arg, arg)
	}
	if f, known := sinks.Named(word); known {
		return f, path, true, checkTarget(arg, path)
	}
	unknown := unknownFormat("-o "+arg, word)
	hint := "for a path that contains =, write -o " + text.Path("./"+arg) + "; " + unknown.Hint
	return f, path, true, unknown.WithHint("%s", strings.TrimSuffix(hint, "; "))
}

// formatTarget returns the target of an argument whose format is known; named means that it is
// FORMAT=PATH, and sharded that --rows-per-file is given.
func formatTarget(arg string, f sinks.Format, path string, named, sharded bool) (target, error) {
	if path == Stdio && f.Name == "arrow" { // no reader of a pipe can seek in it
		f, _ = sinks.Named("arrows")
	}
	t := target{path: path, named: named, formats: []sinks.Format{f}}
	_, codec, hasExtension := sinks.ByName(path)
	switch {
	case path == Stdio && f.Folder:
		return t, usagef("-o %s: a %s output is a folder, which cannot go to standard output", arg, f.Name)
	case path == Stdio, f.Folder: // path is the output itself
	case endsAsFolder(path), // or else it may be the folder of part files
		namesFolder(path) && !hasExtension && !(sharded && f.Splittable):
		t.container = true
	case f.Compressible:
		t.codec = codec
	}
	return t, nil
}

// inserted returns the argument of a target, quoted for a shell, with more before the extension.
func (t target) inserted(more string) string {
	path := strings.TrimRight(t.path, "/")
	stem, ext := sinks.SplitName(path)
	if t.container {
		stem, ext = path, "/"
	}
	if t.named {
		stem = t.formats[0].Name + "=" + stem
	}
	return text.Path(stem + more + ext)
}

// unknownFormat returns the error for the unknown format name in arg. If name is a file extension,
// the hint names its format, or the tool that writes such files.
func unknownFormat(arg, name string) *fault.Error {
	meant := text.DidYouMean(name, sinks.Names())
	if f, _, ok := sinks.ByName("x." + name); ok {
		meant = fmt.Sprintf("did you mean %s?", f.Name)
	}
	return usagef("%s: unknown format %q, expected one of %s", arg, name, strings.Join(sinks.Names(), ", ")).
		WithHint("%s", cmp.Or(Alternative("."+name), meant))
}

// unknownExtension returns the error for an output whose name has an unknown file extension.
func unknownExtension(arg, ext string) error {
	inner := strings.TrimSuffix(arg, ext)
	f, codec, known := sinks.ByName(inner) // x.csv.bz2 and x.parquet.gz have known ones inside
	advice := Alternative(ext)
	switch {
	case f.Compressible && codec == "none":
		advice = fmt.Sprintf("write -o %s or -o %s", text.Path(inner+".gz"), text.Path(inner+".zst"))
	case known:
		advice = fmt.Sprintf("write -o %s; --compression compresses Parquet and Arrow", text.Path(inner))
	case ext == ".png":
		advice = "a png output is a folder: write -o png=" + text.Quote(cmp.Or(inner, "images"))
	case advice == "":
		extensions := sinks.List(func(f sinks.Format) bool { return f.Extension != "" })
		advice = fmt.Sprintf("name the format (-o parquet=%s), use the extension %s, or write %s for a folder",
			text.Quote(arg), extensions, text.Path(arg+"/"))
	}
	return usagef("-o %s: unknown file extension %s", arg, ext).WithHint("%s", advice)
}

// namesFolder reports whether path ends with a slash, or is an existing folder.
func namesFolder(path string) bool { return endsAsFolder(path) || folderAt(path) }

func folderAt(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isStream reports whether path is standard output, a device or a FIFO, which cannot be read again.
func isStream(path string) bool {
	info, err := os.Stat(path)
	return path == Stdio || err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// endsAsFolder reports whether path, which is not empty, ends with a slash or, on Windows, \.
func endsAsFolder(path string) bool { return os.IsPathSeparator(path[len(path)-1]) }

// extension returns the file extension of a path, ignoring the placeholders in it.
func extension(path string) string { return filepath.Ext(placeholder().ReplaceAllString(path, "")) }

// placeholder matches a placeholder, such as {split}, in the path of an output, and also unknown
// ones of letters, such as {Split}, which are refused; other braces are part of a name.
var placeholder = text.Pattern(`\{[A-Za-z]*\}`)
var notInNames = text.Pattern(`[\x00-\x1f\x7f\x{FFFD}/\\:*?"<>|]`) // what no file is called, but a column may be

// checkPath returns an error if the path in an argument is empty, or begins with ~ for a folder.
func checkPath(arg, path string) error {
	if before, rest, _ := strings.Cut(arg, "~/"); strings.HasPrefix(path, "~/") { // shells keep it behind NAME=
		return usagef("%s: found ~, expected a path", arg).WithHint(`write %s"$HOME"/%s`, before, text.Quote(rest))
	} else if path == "" {
		return usagef("%s: the path is empty", arg).WithHint("perhaps a shell variable is not set")
	}
	return nil
}

// checkTarget returns an error if the path in an argument of -o is none or has other placeholders.
func checkTarget(arg, path string) error {
	for _, p := range placeholder().FindAllString(path, -1) {
		if p != "{split}" && p != "{format}" && p != "{part}" {
			return usagef("-o %s: unknown placeholder %s, expected one of {format}, {part}, {split}", path, p)
		}
	}
	return checkPath("-o "+arg, path)
}
