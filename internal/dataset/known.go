package dataset

import (
	"cmp"
	_ "embed"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source/idx"
)

// An Info describes a published data set.
type Info struct {
	Name         string // as in the option --dataset
	Title        string // as its authors write it
	Splits       []SplitInfo
	Files        []PublishedFile // those whose hashes are known
	ImageShape   []int           // of one upright image, rows before columns
	Classes      []string        // Classes[v] is the name of label v, empty where there is no such label
	Transposed   bool            // images are stored column by column, and must be transposed to be upright
	LabelColumns []string        // of a label file of rank 2, "label" first; nil if labels are single numbers
	License      string          // as the publisher names it; empty if unknown
	Homepage     string          // URL
}

// A SplitInfo is one split of a published data set.
type SplitInfo struct {
	Name    string // "train", "test", …
	Records int64
}

// A PublishedFile identifies a published file of labels or images.
type PublishedFile struct {
	Role   Role
	Header idx.Header
	Hashed int64  // number of records that SHA256 is about: all labels or the first images
	SHA256 string // of the decompressed records, hexadecimal
}

// DatasetNone is the name that disables the recognition of data sets.
const DatasetNone = "none"

// Lookup finds the data set by its name or title, as in text.IsSame. The error lists the names.
func Lookup(name string) (Info, error) {
	for _, d := range Known() {
		if text.IsSame(d.Name, name) || text.IsSame(d.Title, name) {
			return d, nil
		}
	}
	names := knownNames()
	meant := map[bool]string{true: "fashion-mnist", false: name}[text.IsSame(name, "fmnist")] // it is nearer to mnist
	return Info{}, fault.New(fault.Usage, "unknown data set %q, expected one of %s", name, strings.Join(names, ", ")).
		WithHint("%s", cmp.Or(text.DidYouMean(meant, names), "`idxport datasets` lists them with their splits"))
}

// knownTable is the table of the published data sets. An entry is
//
//	NAME | TITLE | LICENSE | HOMEPAGE, as in Info
//	split NAME RECORDS
//	classes NAMES, separated by commas, of the labels from 0 on; empty where there is no such label
//	columns NAMES of the numbers of a label
//	transposed
//	file SHA256 DIMENSIONS: 1 of labels, 2 of label vectors (int32), 3 of images (hash of 100)
//
//go:embed known.txt
var knownTable string

// Known returns the published data sets; the caller may change them.
func Known() (all []Info) {
	for entry := range strings.SplitSeq(strings.TrimSpace(knownTable), "\n\n") {
		lines := strings.Split(entry, "\n")
		about := strings.Split(lines[0], " | ")
		d := Info{Name: about[0], Title: about[1], License: about[2], Homepage: about[3], ImageShape: []int{28, 28}}
		for _, line := range lines[1:] {
			key, value, _ := strings.Cut(line, " ")
			words := strings.Fields(value)
			switch key {
			case "classes":
				d.Classes = strings.Split(value, ", ")
			case "columns":
				d.LabelColumns = words
			case "transposed":
				d.Transposed = true
			case "split":
				d.Splits = append(d.Splits, SplitInfo{words[0], numbers(words[1:])[0]})
			case "file":
				dims := numbers(words[1:])
				p := PublishedFile{Label, idx.Header{DType: idx.Uint8, Dims: dims}, dims[0], words[0]}
				if len(dims) == 2 {
					p.Header.DType = idx.Int32
				} else if len(dims) == 3 {
					p.Role, p.Hashed = Image, 100
				}
				d.Files = append(d.Files, p)
			}
		}
		all = append(all, d)
	}
	return all
}

func numbers(words []string) (all []int64) {
	for _, word := range words {
		n, _ := strconv.ParseInt(word, 10, 64) // the table is tested
		all = append(all, n)
	}
	return all
}
