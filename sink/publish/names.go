package publish

import (
	"crypto/sha256"
	"encoding/hex"
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

// What hidden names have behind the name of their target, and what they end with.
const (
	hiddenInfix   = ".idxport-"
	partialSuffix = ".partial"
	oldSuffix     = ".old"
	markerSuffix  = ".made"
	lockSuffix    = ".idxport-lock"
	hiddenDigits  = 16 // hexadecimal
)

// shownOfLong is how many bytes of a name are kept that is too long for a hidden one.
const shownOfLong = 64

// Hidden returns the hidden name beside base that ends with tail: .<base><tail>. Where file systems
// would not take that, the beginning of base and a hash of it stand for base.
func Hidden(base, tail string) string {
	if len("."+base+tail) <= maxName {
		return "." + base + tail
	}
	cut := min(shownOfLong, len(base))
	for cut > 0 && cut < len(base) && !utf8.RuneStart(base[cut]) {
		cut--
	}
	hash := sha256.Sum256([]byte(base))
	return "." + base[:cut] + "-" + hex.EncodeToString(hash[:16]) + tail
}

// parseHidden returns the suffix and the hexadecimal digits of a hidden name of the target base; ""
// if name is none. An up-to-date marker has two runs of digits with a hyphen between them.
func parseHidden(name, base string) (suffix, digits string) {
	at := strings.LastIndex(name, hiddenInfix)
	if at < 0 || name != Hidden(base, name[at:]) {
		return "", ""
	}
	digits, suffix, _ = strings.Cut(name[at+len(hiddenInfix):], ".")
	suffix = "." + suffix
	runs := strings.Split(digits, "-")
	for _, run := range runs {
		if len(run) != hiddenDigits || strings.Trim(run, "0123456789abcdef") != "" {
			return "", ""
		}
	}
	if marker := suffix == markerSuffix; marker && len(runs) != 2 || !marker && len(runs) != 1 {
		return "", ""
	}
	return suffix, digits
}

// refuseNames refuses a path with names that Windows cannot keep, or would change without a word:
// con.parquet is the console, "x.csv." becomes x.csv, and a:b writes to a hidden stream of the file
// a. See https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func refuseNames(path string) error {
	names := strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool {
		return r < utf8.RuneSelf && os.IsPathSeparator(byte(r))
	})
	for i, name := range names {
		better, reason := windowsName(name)
		device := i == len(names)-1 && !strings.Contains(name, ".") && isDevice().MatchString(name) // NUL is written to, as /dev/null is
		if reason != "" && !device {
			return refusal(path, fmt.Sprintf("Windows cannot keep the name %q: %s", name, reason),
				"choose another name, such as "+shell.Path(better))
		}
	}
	return nil
}

// windowsName returns a name that Windows can give a file in place of name, and what is wrong with
// name; "" if nothing is.
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
	if better == "" || isDevice().MatchString(better) {
		better = "_" + better
	}
	long := utf16.Encode([]rune(better)) // Windows counts in these
	if len(long) > maxName {
		ending := filepath.Ext(better)
		ending = ending[:min(len(ending), shownOfLong)]
		better = string(utf16.Decode(long[:maxName-len(ending)])) + ending
	}
	i := strings.IndexFunc(name, wrong)
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

// isDevice matches the names that some version of Windows takes for devices, in any folder and with
// any ending.
var isDevice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?$`)
})
