package publish

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/idxport/idxport/shell"
)

// refuseNames refuses a path with names that Windows cannot keep, or would change without a word: con.parquet is the console,
// "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a.
// See https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func refuseNames(path string) error {
	names := strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })
	for i, name := range names {
		better, reason := windowsName(name)
		device := i == len(names)-1 && !strings.Contains(name, ".") && isDevice().MatchString(name) // NUL is written to, as /dev/null is
		if reason == "" || device {
			continue
		}
		return refusal(path, fmt.Sprintf("Windows cannot keep the name %q: %s", name, reason), "choose another name, such as "+shell.Path(better))
	}
	return nil
}

// windowsName returns a name that Windows can give a file in place of name, and what is wrong with name; "" if nothing is.
func windowsName(name string) (better, reason string) {
	if name == "." || name == ".." {
		return name, ""
	}
	i := strings.IndexFunc(name, wrongOnWindows)
	better = strings.TrimRight(strings.Map(func(r rune) rune {
		if wrongOnWindows(r) {
			return '_'
		}
		return r
	}, name), ". ")
	if better == "" || isDevice().MatchString(better) {
		better = "_" + better
	}
	long := utf16.Encode([]rune(better)) // Windows counts in these
	if len(long) > maxName {
		ending := filepath.Ext(better)
		ending = ending[:min(len(ending), shownOfLong)]
		better = string(utf16.Decode(long[:maxName-len(ending)])) + ending
	}
	switch {
	case i >= 0:
		reason = fmt.Sprintf("it has a %q", name[i:i+1])
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		reason = "it ends with a dot or space"
	case len(long) > maxName:
		reason = fmt.Sprintf("it is longer than %d", maxName)
	case better != name:
		reason = "it is a device"
	}
	return better, reason
}

func wrongOnWindows(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*`, r) }

// isDevice matches the names that some version of Windows takes for devices, in any folder and with any ending.
var isDevice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)
})
