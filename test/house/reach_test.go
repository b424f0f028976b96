package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// beyond are packages by which a program reaches the network, other programs or foreign code.
var beyond = []string{"net", "net/http", "crypto/tls", "os/exec", "plugin", "runtime/cgo"}

// TestProgramReachesNothing demands that code for the network and for starting programs is not even linked: what is not there cannot be led astray.
func TestProgramReachesNothing(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"linux", "darwin", "windows"} {
		command := exec.Command("go", "list", "-deps", "./cmd/idxport")
		command.Dir = filepath.Join("..", "..")
		command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+platform)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", platform, err)
		}
		packages := strings.Fields(string(out))
		if !slices.Contains(packages, "os") {
			t.Fatalf("%s: found %d packages without os: the list is broken", platform, len(packages))
		}
		for _, p := range packages {
			if p == "net" && platform == "windows" {
				continue // golang.org/x/sys/windows names its types
			}
			if slices.Contains(beyond, p) {
				t.Errorf("%s: %s is linked", platform, p)
			}
		}
	}
}
