package publish

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// The parts of hidden names after the name of the target; see the package comment.
const (
	lockSuffix    = ".idxport"
	hiddenInfix   = ".idxport-"
	partialSuffix = ".partial"
	oldSuffix     = ".old"
	recordSuffix  = ".made"
)

// maxName is the maximum length of a name on file systems, in bytes.
const maxName = 255

// hidden returns the hidden name .<base><tail>. If that is too long, a hash of base replaces base.
func hidden(base, tail string) string {
	if len("."+base+tail) > maxName {
		base = fmt.Sprintf("%x", sha256.Sum256([]byte(base)))
	}
	return "." + base + tail
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

// A record is one beside a target, see the package comment.
type record struct{ path, listing, key, content string }

var hiddenTail = regexp.MustCompile(`\.idxport-(?:[0-9a-f]{16}\.(?:partial|old)|` +
	`([0-9a-f]{16})-([0-9a-f]{16})-([0-9a-f]{16})\.made)$`)

// siblings returns the records beside the target, and the paths of what killed runs left.
func (out *output) siblings(d disk) (records []record, left []string, err error) {
	dir, base := filepath.Split(out.real)
	entries, err := resultOn(d, "readDir", os.ReadDir, dir)
	for _, entry := range entries {
		name := entry.Name()
		m := hiddenTail.FindStringSubmatch(name)
		switch {
		case m == nil || name != hidden(base, m[0]):
		case m[1] != "":
			records = append(records, record{dir + name, m[1], m[2], m[3]})
		default:
			left = append(left, dir+name)
		}
	}
	return records, left, err
}

// makeRecord makes the record of the output, which is complete but not visible yet. A file without
// a key has none.
func (out *output) makeRecord(d disk) (err error) {
	folder, isFolder := out.content.(*Folder)
	if !isFolder && out.target.Key == "" {
		return nil
	}
	var listed listing
	key, content := listed.String(), listed.String() // zero
	makeIt := makeDir
	if isFolder {
		listed, makeIt = folder.listing, makeEmpty
	}
	if out.target.Key != "" {
		key = out.target.Key
		if content, err = resultOn(d, "open", Fingerprint, out.partial); err != nil {
			return err
		}
	}
	made := out.beside(fmt.Sprintf("%s%v-%s-%s%s", hiddenInfix, listed, key, content, recordSuffix))
	if i := slices.Index(out.stale, made); i >= 0 { // from an earlier run with the same result
		out.stale = slices.Delete(out.stale, i, i+1)
		return nil
	}
	out.record = made // set first: making it may succeed and still return an error
	return d.on("makeRecord", makeIt, made)
}

// UpToDate reports whether the file or folder at path was published with this Target.Key and has
// not changed since.
func UpToDate(path, key string) (bool, error) {
	out, err := locate(Target{Path: path})
	if err != nil || out.info == nil || out.direct {
		return false, failure(path, "resolving it", err)
	}
	records, _, err := out.siblings(system)
	records = slices.DeleteFunc(records, func(r record) bool { return r.key != key })
	if err != nil || len(records) == 0 {
		return false, failure(path, "listing its folder", err)
	}
	found, err := Fingerprint(out.real)
	matches := slices.ContainsFunc(records, func(r record) bool { return r.content == found })
	return matches && err == nil, failure(path, "reading it", err)
}

// refuseForeign fails with fault.Refused unless the folder at path, which is the target or was
// moved from there, is an earlier output and holds nothing else: its listing is that of a record.
// An empty folder needs no record.
func (out *output) refuseForeign(d disk, path string) error {
	records, _, err := out.siblings(d)
	var found listing
	if err == nil {
		found, err = resultOn(d, "list", list, path)
	}
	recorded := slices.ContainsFunc(records, func(r record) bool { return r.listing == found.String() })
	if err != nil || recorded || found == 0 && !out.occupied {
		return failure(out.target.Path, "listing it", err)
	}
	why := "files in it were added, removed or changed since idxport made it"
	if records == nil {
		why = "idxport has no record of it, a hidden file beside it"
	}
	return refusal(out.target.Path, why, "move away what you need and delete it, or name a new folder")
}
