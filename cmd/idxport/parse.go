package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/text"
)

// parse reads the flags among the words after a command into s, and the other words into s.Inputs.
// A value follows its flag after a space or =, or directly after a short flag, as in -j2. After an
// error it still reads the other flags, because some decide how errors are shown.
func (s *settings) parse(command string, words []string) (first error) {
	flags, given := flagsOf(command), map[string]string{}
	failed := func(err error) { first = cmp.Or(first, err) }
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			s.Inputs = append(s.Inputs, words[i+1:]...)
			break
		}
		if len(word) < 2 || strings.IndexAny(word, "-–—") != 0 { // word processors make dashes of hyphens
			s.Inputs = append(s.Inputs, word)
			continue
		}
		name, value, valued := strings.Cut(word, "=")
		f := flagNamed(flags, name)
		if f == nil && joinedValue(flags, name) {
			f, value, valued = flagNamed(flags, word[:2]), word[2:], true
		}
		switch {
		case f == nil:
			failed(usagef("unknown flag %s", name).WithHint("%s", adviseFlag(command, strings.TrimLeft(name, "-"))))
			continue
		case !valued && f.placeholder == "":
			if value = "true"; i+1 < len(words) && (words[i+1] == "true" || words[i+1] == "false") {
				failed(usagef("%s is followed by %q", word, words[i+1]).WithHint("write %s=%s", word, words[i+1]))
			}
		case !valued && i+1 == len(words):
			failed(usagef("missing value after %s", word).WithHint("see idxport %s --help", command))
			continue
		case !valued:
			i++
			value = words[i]
			failed(checkValue(word, value))
		}
		_, many := f.field(s).(*[]string)
		before, again := given[f.name] // -q -q is one thing, --transpose --transpose=false is not
		if again && (!many || f.has("list")) && (f.placeholder != "" || value != before) {
			hint := "give it once"
			if f.has("list") {
				hint += "; a list has commas: image,label"
			}
			failed(usagef("--%s is given twice", f.name).WithHint("%s", hint))
			continue
		}
		given[f.name] = value
		failed(f.set(s, value))
	}
	return first
}

// flagNamed returns the flag with the name, which has one or two hyphens, or nil.
func flagNamed(flags []flagSpec, name string) *flagSpec {
	long := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
	i := slices.IndexFunc(flags, func(f flagSpec) bool {
		return name == f.short || long == f.name ||
			long != "" && slices.Contains(strings.Split(f.attribute("also"), ","), long)
	})
	if i < 0 {
		return nil
	}
	return &flags[i]
}

// joinedValue reports whether name is a short flag and its value (-oFILE), not a typo (-ouput).
func joinedValue(flags []flagSpec, name string) bool {
	f := flagNamed(flags, name[:min(2, len(name))])
	return f != nil && f.placeholder != "" && text.DidYouMean("-"+name, longNames(flags)) == ""
}

// longNames returns the names of flags with two hyphens.
func longNames(flags []flagSpec) (names []string) {
	for _, f := range flags {
		names = append(names, "--"+f.name)
	}
	return names
}

// checkValue returns an error if value, which follows the flag, is another flag (a value may be
// forgotten) or a list that goes on after a space. Numbers, such as "-100:" for --rows, are values.
func checkValue(flag, value string) error {
	if !strings.HasSuffix(value, ",") && (len(value) < 2 || value[0] != '-' || unicode.IsDigit(rune(value[1]))) {
		return nil
	}
	return usagef("%s is followed by %q, expected a value", flag, value).
		WithHint("if this is the value, write %s=%s; a list has no spaces, or is in quotes", flag, text.Quote(value))
}

// adviseFlag returns the hint for an unknown flag.
func adviseFlag(command, name string) string {
	flags, elsewhere := flagsOf(command), map[string]string{}
	for _, f := range flags {
		for other := range strings.SplitSeq(f.attribute("aka"), ",") {
			elsewhere[other] = f.name
		}
	}
	delete(elsewhere, "")
	long := longNames(flags)
	see := "see idxport " + command + " --help-all"
	exact := elsewhere[strings.TrimRight(name, "0123456789")] // as of -j2
	hint := convert.Alternative(name)
	switch {
	case exact != "":
		return "did you mean --" + exact + "?"
	case hint != "" && (name != "sample" || slices.Contains(long, "--take")):
		return hint
	case strings.IndexAny(name, "–—") == 0:
		return "it begins with a dash, expected a hyphen, -; a path that begins so is written ./" + name
	case name == "":
		return see
	}
	if f := flagNamed(allFlags(), "--"+name); f != nil {
		return "it is a flag of " + strings.Join(f.commands(), ", ")
	}
	if f := flagNamed(flags, "--"+strings.TrimPrefix(name, "no-")); f != nil {
		return see + " about --" + f.name
	}
	advice := text.DidYouMean("--"+name, append(long, "--help"))
	if other := text.Nearest(name, slices.Sorted(maps.Keys(elsewhere))); other != "" && advice == "" {
		return "did you mean --" + elsewhere[other] + "?"
	}
	return cmp.Or(advice, see)
}
