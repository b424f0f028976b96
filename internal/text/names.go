package text

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// unstorable are the names that Windows cannot store, or silently changes: con.parquet is the
// console, "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a. See
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
var unstorable = Pattern(
	`(?i)[\x00-\x1f<>:"|?*]|.{256}| $|[^.]\.+$|^\.{3,}$|^(con|prn|aux|nul|con(in|out)\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)

// Storable reports whether Windows, and so every system, can store this name, which has no slashes.
func Storable(name string) bool { return !unstorable().MatchString(name) }

var urlStart = Pattern(`^[a-z0-9]{2,}://`)

// IsURL reports whether name begins with the scheme of a URL, such as s3://, supported or not.
func IsURL(name string) bool { return urlStart().MatchString(name) }

// Pattern returns a function that compiles a regular expression when it is first called: programs
// that start often should not wait for what they rarely need.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// List splits a list of a command line, in which a space may follow each comma.
func List(list string) []string { return strings.Split(strings.ReplaceAll(list, ", ", ","), ",") }

// NamesLabels reports whether name is a usual name of columns with labels.
func NamesLabels(name string) bool {
	return slices.Contains([]string{"label", "labels", "class", "target", "y"}, strings.ToLower(name))
}
