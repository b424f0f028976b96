package input

import (
	"bufio"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/sources"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Options say what is read, and how. Those with the name of a flag are its value, or zero.
type Options struct {
	Args           []dataset.Input
	Split          []string
	Dataset        string
	Classes        string // the path of a file
	DType          idx.DType
	Shape          []int
	Resize         [2]int
	Grey           bool
	Header         *bool
	Salvage        bool
	LabelColumn    string
	MaxRecordBytes int64
	Workers        int

	Holdout  bool            // tables of splits beside IDX files may be outputs of it
	Counted  bool            // the number of rows is needed before they are read
	Like     []source.Column // those that are expected: if not nil, shapes are neither guessed nor replaced
	AsStored bool            // images are scaled by their reader, or not at all
	Stdin    *bufio.Reader
	Storage  *Storage
	Note     func(format string, args ...any) // gets what is assumed about a table
}

// PlacesLabel reports whether --label-column may be the place of the label in text without names.
func (o Options) PlacesLabel() bool {
	return slices.Contains([]string{"first", "last", "none"}, o.LabelColumn)
}

// idxOptions returns the options that IDX files are read with.
func (o Options) idxOptions(ctx context.Context, salvage bool) source.Options {
	return source.Options{MaxRecordSize: o.MaxRecordBytes, Salvage: salvage, Files: o.Storage.Files(ctx)}
}

// A Set is the splits of the arguments. Tables can be opened again, except one on standard input.
type Set struct {
	Options
	Splits  []dataset.Split
	tables  map[string]sources.Table // files in formats other than IDX, by path; nil if there are none
	classes []string                 // from the file of --classes
	lists   *sync.Map                // by the path of a list of class names, the function that reads it once
}

// IDX reports whether the inputs are IDX files.
func (in *Set) IDX() bool { return in.tables == nil }

// Table returns the table in the file or folder at path, zero if it is an IDX file.
func (in *Set) Table(path string) sources.Table { return in.tables[path] }

// Text reports whether any input is text, such as CSV.
func (in *Set) Text() bool {
	all := slices.Collect(maps.Values(in.tables))
	return slices.ContainsFunc(all, func(t sources.Table) bool { return t.Format.Text })
}

// usagef returns an error about options that are wrong or contradict each other or the inputs.
func usagef(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }

// A FlagUse says whether a flag has a use, if it is given, and what it is for.
type FlagUse struct {
	Flag        string
	Given, Used bool
	Users       string
}

// CheckUses returns an error if a flag is given that no input or output, the noun, uses.
func CheckUses(noun string, uses []FlagUse) error {
	for _, u := range uses {
		if u.Given && !u.Used {
			return usagef("no %s uses --%s: it is for %s", noun, u.Flag, u.Users)
		}
	}
	return nil
}

// SplitNames lists the names of splits.
func SplitNames(splits []dataset.Split) string {
	var names []string
	for _, s := range splits {
		names = append(names, cmp.Or(s.Name, s.Stem))
	}
	return strings.Join(names, ", ")
}

func shownPath(path string) string {
	return cmp.Or(map[string]string{source.Stdin: "standard input"}[path], path)
}

func isLabels(f dataset.File) bool { return f.Role == dataset.Label }
