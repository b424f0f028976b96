package house

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// pinned matches a line of a requirements file that names one version of one package, or none.
var pinned = regexp.MustCompile(`^(#.*|[A-Za-z0-9._-]+(\[[a-z-]+\])?==[0-9][0-9A-Za-z.]*)?$`)

// outside are the files that say what is fetched from elsewhere, by their paths from the root.
func outside(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, data := range trackedFiles(t) {
		base, text := path.Base(name), string(data)
		if !strings.Contains(name, "testdata/") && (strings.HasPrefix(base, "requirements") || base == "go.mod" ||
			strings.HasPrefix(base, "package") || base == "Makefile" || strings.HasPrefix(text, "#!")) {
			found[name] = text
		}
	}
	return found
}

// TestPackagesArePinned demands one exact version of everything that is fetched: what was tested is
// what is run. Debian's packages are the exception: its archive keeps one version, and signs it.
func TestPackagesArePinned(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for path, text := range outside(t) {
		name := filepath.Base(path)
		switch {
		case strings.HasPrefix(name, "requirements") && strings.HasSuffix(name, ".txt"):
			seen["requirements"]++
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); !pinned.MatchString(line) {
					t.Errorf("%s: %q is not pinned", path, line)
				}
			}
		case name == "package.json":
			seen["package.json"]++
			checkPackage(t, path, text)
		case name == "go.mod":
			seen["go.mod"]++
			if strings.Contains(text, "\nreplace ") && path == "go.mod" {
				t.Errorf("%s replaces a module: what others build would differ", path)
			}
		case name == "Makefile" || strings.HasPrefix(text, "#!"):
			seen["scripts"]++
			checkScript(t, path, text)
		}
	}
	for _, kind := range []string{"requirements", "package.json", "go.mod", "scripts"} {
		if seen[kind] == 0 {
			t.Errorf("found no %s: the walk is broken", kind)
		}
	}
}

// checkPackage demands exact versions in a package.json, and a lock file with the hash of every
// package beside it.
func checkPackage(t *testing.T, path, text string) {
	t.Helper()
	var p struct {
		Dependencies, DevDependencies, OptionalDependencies, PeerDependencies map[string]string
	}
	must.Do(t, json.Unmarshal([]byte(text), &p))
	groups := []map[string]string{p.Dependencies, p.DevDependencies, p.OptionalDependencies, p.PeerDependencies}
	for _, group := range groups {
		for name, version := range group {
			if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
				t.Errorf("%s: %s %s is not pinned", path, name, version)
			}
		}
	}
	var lock struct {
		Packages map[string]struct{ Integrity, Resolved string }
	}
	data := must.Get(os.ReadFile(filepath.Join("..", "..", filepath.Dir(path), "package-lock.json")))(t)
	if err := json.Unmarshal(data, &lock); err != nil || len(lock.Packages) < 2 {
		t.Fatalf("%s: %d packages, %v", path, len(lock.Packages), err)
	}
	for name, locked := range lock.Packages {
		if name != "" && !strings.HasPrefix(locked.Integrity, "sha512-") {
			t.Errorf("%s: %s has no hash in package-lock.json", path, name)
		}
	}
}

// checkScript looks for commands that fetch whatever is newest.
func checkScript(t *testing.T, path, text string) {
	t.Helper()
	module := regexp.MustCompile(`\b[a-z0-9.-]+\.[a-z]{2,}/[\w./-]+@(\S+)`)
	exact := regexp.MustCompile(`^v\d+\.\d+\.\d+$`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, m := range module.FindAllStringSubmatch(line, -1) {
			if !exact.MatchString(m[1]) {
				t.Errorf("%s: %q has no exact version", path, m[0])
			}
		}
		fetches := regexp.MustCompile(`\bpip"? install\b|\bnpm (install|i|add)\b|\bnpx\b|@latest\b`).MatchString(line)
		if fetches && !regexp.MustCompile(`\bpip\b.* (--requirement|\S+==\d)`).MatchString(line) {
			t.Errorf("%s: %q fetches what is newest", path, line)
		}
	}
}

// TestPinsAreDemanded shows that the rules above refuse something.
func TestPinsAreDemanded(t *testing.T) {
	t.Parallel()
	for _, bad := range strings.Split("numpy|numpy>=2|numpy==2.*|numpy~=2.0|-r other.txt|git+https://a.b/x", "|") {
		if pinned.MatchString(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}
