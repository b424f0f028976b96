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

var urlStart = Pattern(`^([a-z0-9]{2,}://|(s3|gs|https?):/)`)

// IsURL reports whether name begins with the scheme of a URL, supported or not: s3://, or s3:/.
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

// IsSame reports whether two names differ only in case, dashes, underscores, dots and spaces.
func IsSame(a, b string) bool { return plain(a) == plain(b) }

func plain(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// DidYouMean returns the hint for a name that is not among names: those that begin with it
// ("emnist"), or else the nearest one; it is empty if there is none. Case and dashes do not count.
func DidYouMean(name string, names []string) string {
	family := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return name == "" || !strings.HasPrefix(plain(n), plain(name))
	})
	if closest := Nearest(name, names); len(family) == 0 && closest != "" {
		family = []string{closest}
	}
	if last := min(len(family), 9) - 1; last >= 0 {
		return "did you mean " + strings.TrimPrefix(strings.Join(family[:last], ", ")+" or "+family[last], " or ") + "?"
	}
	return ""
}

// Nearest returns the nearest name of those with the same first letter, or "" if none is near.
func Nearest(name string, names []string) (closest string) {
	name = plain(name)
	limit := 1 + (len(name)+1)/4
	for _, n := range names {
		if d := editDistance(name, plain(n)); d <= limit && strings.HasPrefix(plain(n), name[:min(1, len(name))]) {
			closest, limit = n, d-1
		}
	}
	return closest
}

// editDistance is the Levenshtein distance: bytes to insert, remove or replace to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
