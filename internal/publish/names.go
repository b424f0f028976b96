package publish

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// refuseNames refuses a path with names that Windows cannot store, or silently changes: con.parquet
// is the console, "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a. See
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func refuseNames(path string) error {
	names := strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool {
		return r < utf8.RuneSelf && os.IsPathSeparator(byte(r))
	})
	for i, name := range names {
		reason := windowsReason(name)
		// A device such as NUL may be the output, as /dev/null may.
		device := i == len(names)-1 && !strings.Contains(name, ".") && deviceName().MatchString(name)
		if reason != "" && !device {
			return refusal(path, fmt.Sprintf("Windows cannot store the name %q: %s", name, reason), "choose another name")
		}
	}
	return nil
}

// windowsReason returns why Windows cannot store the name, or "".
func windowsReason(name string) string {
	i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*`, r) })
	switch {
	case name == "." || name == "..":
	case i >= 0:
		return fmt.Sprintf("it has a %q", name[i:i+1])
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "it ends with a dot or space"
	case len(utf16.Encode([]rune(name))) > maxName: // Windows counts UTF-16 code units
		return fmt.Sprintf("it is longer than %d characters", maxName)
	case deviceName().MatchString(name):
		return "it is the name of a device"
	}
	return ""
}

// deviceName matches the names that are devices in some version of Windows, in any folder and with
// any extension.
var deviceName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)
})
