package house

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// beyond are packages by which a program reaches the network, other programs or foreign code.
var beyond = []string{"net", "net/http", "crypto/tls", "os/exec", "plugin", "runtime/cgo"}

// doors are the packages of ours that may: each holds what it reaches behind an interface of its
// own.
var doors = []string{module + "internal/object"}

// linked are the packages that the program is made of on a platform, with what each imports.
func linked(t *testing.T, platform string) map[string][]string {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", "./cmd/idxport")
	command.Dir = filepath.Join("..", "..")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+platform)
	packages := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(must.Get(command.Output())(t))); d.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		must.Do(t, d.Decode(&p))
		packages[p.ImportPath] = p.Imports
	}
	if _, ok := packages["os"]; !ok {
		t.Fatalf("%s: found %d packages without os: the list is broken", platform, len(packages))
	}
	return packages
}

// reached are the packages that lead from the program to those beyond, by ways that pass no door.
func reached(packages map[string][]string, platform string) (found []string) {
	seen := map[string]bool{}
	var visit func(from, p string)
	visit = func(from, p string) {
		if slices.Contains(beyond, p) && !(p == "net" && platform == "windows") { // x/sys/windows names its types
			found = append(found, p+" by "+from)
		}
		if seen[p] || slices.Contains(doors, p) {
			return
		}
		seen[p] = true
		for _, next := range packages[p] {
			visit(p, next)
		}
	}
	visit("", module+"cmd/idxport")
	return found
}

// TestOnlyDoorsReachOut demands that only internal/object leads to the network
// and to other programs.
func TestOnlyDoorsReachOut(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"linux", "darwin", "windows"} {
		packages := linked(t, platform)
		for _, way := range reached(packages, platform) {
			t.Errorf("%s: %s", platform, way)
		}
		if _, ok := packages["net/http"]; !ok {
			t.Errorf("%s: no door reaches net/http: the test is broken", platform)
		}
	}
}

// TestWaysAreFound shows that a way which passes no door is reported, and one that does is not.
func TestWaysAreFound(t *testing.T) {
	t.Parallel()
	program, door := module+"cmd/idxport", doors[0]
	for name, c := range map[string]struct {
		imports []string
		want    int
	}{
		"through a door":  {[]string{door}, 0},
		"past it":         {[]string{door, "kit"}, 1},
		"from itself":     {[]string{door, "os/exec"}, 1},
		"nowhere at all":  {[]string{"os"}, 0},
		"by a longer way": {[]string{"x/y"}, 1},
	} {
		m := map[string][]string{program: c.imports, door: {"kit"}, "kit": {"net/http"}, "x/y": {"x/z"}, "x/z": {"kit"}}
		if got := reached(m, "linux"); len(got) != c.want {
			t.Errorf("%s: found %v, expected %d", name, got, c.want)
		}
	}
}
