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

	"github.com/idxport/idxport/shell"
)

// refuseNames refuses a path with names that Windows cannot store, or silently changes: con.parquet
// is the console, "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file a. See
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func refuseNames(path string) error {
	names := strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool {
		return r < utf8.RuneSelf && os.IsPathSeparator(byte(r))
	})
	for i, name := range names {
		better, reason := windowsName(name)
		// A device such as NUL may be the output, as /dev/null may.
		device := i == len(names)-1 && !strings.Contains(name, ".") && deviceName().MatchString(name)
		if reason != "" && !device {
			return refusal(path, fmt.Sprintf("Windows cannot store the name %q: %s", name, reason),
				"choose another name, such as "+shell.Path(better))
		}
	}
	return nil
}

// windowsName returns a valid name on Windows that is similar to name, and the reason why name
// itself is not valid, or "".
func windowsName(name string) (better, reason string) {
	if name == "." || name == ".." {
		return name, ""
	}
	wrong := func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*`, r) }
	better = strings.TrimRight(strings.Map(func(r rune) rune {
		if wrong(r) {
			return '_'
		}
		return r
	}, name), ". ")
	if better == "" || deviceName().MatchString(better) {
		better = "_" + better
	}
	long := utf16.Encode([]rune(better)) // Windows counts UTF-16 code units
	if len(long) > maxName {
		ending := filepath.Ext(better)
		ending = ending[:min(len(ending), keptBytes)]
		better = string(utf16.Decode(long[:maxName-len(ending)])) + ending
	}
	i := strings.IndexFunc(name, wrong)
	switch {
	case i >= 0:
		reason = fmt.Sprintf("it has a %q", name[i:i+1])
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		reason = "it ends with a dot or space"
	case len(long) > maxName:
		reason = fmt.Sprintf("it is longer than %d characters", maxName)
	case better != name:
		reason = "it is the name of a device"
	}
	return better, reason
}

// deviceName matches the names that are devices in some version of Windows, in any folder and with
// any extension.
var deviceName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)
})
