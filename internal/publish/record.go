package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The parts of hidden names after the name of the target; see the package comment.
const (
	lockSuffix    = ".idxport"
	hiddenInfix   = ".idxport-"
	partialSuffix = ".partial"
	oldSuffix     = ".old"
	recordSuffix  = ".made"
)

// keptBytes is the number of bytes that are kept of a name that would be too long as a whole.
const keptBytes = 64

// hidden returns the hidden name .<base><tail>. If that is too long for file systems, the beginning
// of base and its hash replace base.
func hidden(base, tail string) string {
	if len("."+base+tail) <= maxName {
		return "." + base + tail
	}
	hash := sha256.Sum256([]byte(base))
	start := strings.ToValidUTF8(base[:min(keptBytes, len(base))], "")
	return "." + start + "-" + hex.EncodeToString(hash[:16]) + tail
}

// beside returns the path of the hidden name with the given tail, in the folder of the target.
func (out *output) beside(tail string) string {
	dir, base := filepath.Split(out.real)
	return dir + hidden(base, tail)
}

// newHidden returns a new hidden path beside the target. Its 64 random bits make it different for
// each run, even on file systems without locks.
func (out *output) newHidden(suffix string) string {
	return out.beside(fmt.Sprintf("%s%016x%s", hiddenInfix, rand.Uint64(), suffix))
}

// A sibling is a hidden name beside a target, other than the lock.
type sibling struct {
	path    string
	isOld   bool    // an old folder, not a partial
	listing listing // the numbers of a record
	key     string
	content string
}

// siblings returns the records beside the target, and what runs that were killed left.
func (out *output) siblings(d disk) (records, left []sibling, err error) {
	const number = `([0-9a-f]{16})`
	tail := regexp.MustCompile(`\.idxport-(?:[0-9a-f]{16}\.(?:partial|(old))|` +
		number + "-" + number + "-" + number + `\.made)$`)
	dir, base := filepath.Split(out.real)
	entries, err := resultOn(d, "readDir", os.ReadDir, dir)
	for _, entry := range entries {
		name := entry.Name()
		m := tail.FindStringSubmatch(name)
		switch {
		case m == nil || name != hidden(base, m[0]):
		case m[2] != "":
			listed, _ := strconv.ParseUint(m[2], 16, 64) // it has 16 digits
			records = append(records, sibling{path: dir + name, listing: listing(listed), key: m[3], content: m[4]})
		default:
			left = append(left, sibling{path: dir + name, isOld: m[1] != ""})
		}
	}
	return records, left, err
}

// noNumber stands in a record for a number that an output does not have.
const noNumber = "0000000000000000"

// makeRecord makes the record of the output, which is complete but not visible yet. A file without
// a key has none.
func (out *output) makeRecord(d disk) (err error) {
	folder, isFolder := out.content.(*Folder)
	if !isFolder && out.target.Key == "" {
		return nil
	}
	var listed listing
	if isFolder {
		listed = folder.listing
	}
	key, content := noNumber, noNumber
	if out.target.Key != "" {
		key = out.target.Key
		if content, err = resultOn(d, "open", Fingerprint, out.partial); err != nil {
			return err
		}
	}
	made := out.beside(fmt.Sprintf("%s%s-%s-%s%s", hiddenInfix, listed, key, content, recordSuffix))
	if i := slices.Index(out.stale, made); i >= 0 { // from an earlier run with the same result
		out.stale = slices.Delete(out.stale, i, i+1)
		return nil
	}
	out.record = made // set first: making it may succeed and still return an error
	if isFolder {
		return d.on("makeEmpty", makeEmpty, made)
	}
	return d.on("makeDir", makeDir, made)
}

// UpToDate reports whether the file or folder at path was published with this Target.Key and has
// not changed since.
func UpToDate(path, key string) (bool, error) {
	out, err := locate(Target{Path: path})
	if err != nil || out.info == nil || out.direct {
		return false, Failure(path, "resolving it", err)
	}
	records, _, err := out.siblings(nil)
	if err != nil {
		return false, Failure(path, "listing its folder", err)
	}
	for _, h := range records {
		if h.key == key {
			print, err := Fingerprint(out.real)
			if err != nil || print == h.content {
				return err == nil, Failure(path, "reading it", err)
			}
		}
	}
	return false, nil
}
