package convert

import (
	"io"
	"math"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Options describe what a conversion reads and writes. Zero values are the defaults. String values
// have the form of the command's flags, which its help explains. A field has the name of its flag,
// or the plural of it: cmd/idxport sets fields by name.
type Options struct {
	Source
	View
	Target
}

// A Source describes what is read, and with what.
type Source struct {
	Inputs         []string // folders, files, NAME=FILE, URLs, or - for Stdin
	Split          []string // the splits to read; empty means all
	Dataset        string   // a name that `idxport datasets` lists, or "none"; empty means detect it
	Classes        string   // file of class names
	DType          string   // element type of inputs that record none, and to which wider integers are narrowed
	Shape          []int    // shape of one record
	Resize         [2]int   // width and height in pixels to which images are scaled, or zeros
	Grey           bool     // make images grey
	Header         *bool    // whether CSV begins with column names; nil means detect it
	Salvage        bool     // read the complete records of damaged IDX files
	LabelColumn    string   // name of the label column; for CSV without names: first, last or none
	MaxRecordBytes int64    // of the largest accepted record; 0 means DefaultMaxRecordBytes

	Stdin   io.Reader // needed if an input is -
	Workers int       // number of goroutines; 0 means one per processor
	Events  Events
}

// A View selects columns and rows and transforms images.
type View struct {
	Columns   []string // names, in the order of the output; empty means all
	Rows      string   // A:B, half-open; negative numbers count from the end
	Where     []string // COLUMN=VALUES or COLUMN!=VALUES; a row must meet all conditions
	Holdout   []string // NAME=ROWS or NAME=PERCENT%: random rows of train become a split
	Stratify  bool     // hold out the same share of each label
	Shuffle   bool
	Seed      int64  // of Holdout and Shuffle
	Take      int64  // the maximum number of rows of each split; 0 means all
	Part      string // I/N: the I-th of N equal ranges of what the fields above select; empty means all
	Transpose *bool  // nil means yes if the data set is stored transposed
}

// A Target describes what is written, and how.
type Target struct {
	Outputs     []string // files, folders, FORMAT=PATH, URLs, or - for Stdout
	To          []string // formats for folders, for names in .{format} and for Stdout
	Overwrite   bool     // replace outputs that exist
	IfChanged   bool     // do nothing if all is up to date, else replace; but none by one of fewer rows
	Expect      []string // SPLIT=ROWS or COLUMN, or lists of these: what must be there
	Verify      bool     // read outputs again and compare them with the inputs before they are visible
	RowsPerFile int64    // 0 means that outputs are not split
	Compression []string // CODEC[:LEVEL] or FORMAT=CODEC[:LEVEL]
	Layout      []string // NAME or FORMAT=NAME
	ClassColumn bool     // add a column of the names of labels
	Reported    bool     // the Report is used: Source.Classes may be for it alone, as formats may hold no names

	Stdout io.Writer // needed if an output is -
}

// Events are callbacks of a run; each may be nil. Calls do not overlap, unless the run is canceled.
type Events struct {
	// Message is called with each note and warning as soon as it is known. The Report has them too.
	Message func(warning bool, text string)
	// Progress is called before a table is read; rows is −1 if its number of rows is unknown. It
	// returns two functions. The first one, update, may be nil; it is called with the number of
	// rows processed so far. The second one, end, is called once the table has been read.
	Progress func(title string, rows int64) (update func(int64), end func())
}

// Version is that of the program, written into outputs. Other versions may write other bytes.
const Version = "0.1.0"

// Limits of options.
const (
	DefaultMaxRecordBytes = idx.DefaultMaxRecordSize
	MaxWorkers            = 4096 // far more than the processors of any machine
	// MaxRecordBytesLimit is the largest Source.MaxRecordBytes: 2 GiB, or 256 MiB in a process of
	// 32 bits, so that it can hold several records.
	MaxRecordBytesLimit = min(math.MaxInt32, math.MaxInt/8)
)

// Stdio is the path of standard input and standard output, "-".
const Stdio = source.Stdin
