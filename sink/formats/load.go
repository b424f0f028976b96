package formats

import (
	"fmt"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/images"
)

// LoadLine returns a line of Python that loads an output of f at path, made of tables of the schema
// s with the options o; "" if there is none.
func (f Format) LoadLine(path string, s *schema.Schema, o Options) string { return f.load(path, s, o) }

// LoadPartsLine is LoadLine for an output that was split into many files, in the folder at path; ""
// if there is none.
func (f Format) LoadPartsLine(path string, s *schema.Schema, o Options) string {
	if f.loadParts == nil {
		return ""
	}
	return f.loadParts(path, s, o)
}

// loadParquet uses the Python library "datasets" for the layout "huggingface", because pyarrow does
// not decode its images. The library calls the only table "train".
func loadParquet(path string, _ *schema.Schema, o Options) string {
	if o.Layout == "huggingface" {
		return fmt.Sprintf("from datasets import load_dataset; data = load_dataset(\"parquet\", data_files=%q, split=\"train\")", path)
	}
	return fmt.Sprintf("import pyarrow.parquet as pq; table = pq.read_table(%q)", path)
}

func loadParquetParts(path string, s *schema.Schema, o Options) string {
	if o.Layout == "huggingface" {
		return fmt.Sprintf("from datasets import load_dataset; data = load_dataset(%q)", path)
	}
	return loadParquet(path, s, o)
}

// line returns a function load that inserts the path into format.
func line(format string) func(string, *schema.Schema, Options) string {
	return func(path string, _ *schema.Schema, _ Options) string { return fmt.Sprintf(format, path) }
}

// readCSV returns the call of pandas that reads a file, an expression in Python. pandas takes the
// first line for a header unless header=None is given.
func readCSV(file, arguments string, o Options) string {
	if !csv.HasHeader(o.Style) {
		arguments += ", header=None"
	}
	return "pd.read_csv(" + file + arguments + ")"
}

// pandas returns the function load of a CSV format.
func pandas(arguments string) func(string, *schema.Schema, Options) string {
	return func(path string, _ *schema.Schema, o Options) string {
		return "import pandas as pd; frame = " + readCSV(fmt.Sprintf("%q", path), arguments, o)
	}
}

func pandasParts(arguments string) func(string, *schema.Schema, Options) string {
	return func(path string, _ *schema.Schema, o Options) string {
		return fmt.Sprintf("import glob, pandas as pd; frame = pd.concat(%s for part in sorted(glob.glob(%q)))", readCSV("part", arguments, o), path+"/part-*")
	}
}

// loadPNG uses the library datasets if there is a metadata.csv, which it reads, and otherwise
// torchvision's ImageFolder, which reads class folders only.
func loadPNG(path string, s *schema.Schema, o Options) string {
	if o.MetadataCSV {
		return fmt.Sprintf("from datasets import load_dataset; data = load_dataset(\"imagefolder\", data_dir=%q, split=\"train\")", path)
	}
	if !images.Labelled(s) {
		return ""
	}
	return fmt.Sprintf("from torchvision.datasets import ImageFolder; images = ImageFolder(%q)", path)
}

// readTar returns the line of Python that loads the rows of files, an expression in Python, in
// order. A sample is an image and, if there are labels, its label.
func readTar(files string, s *schema.Schema) string {
	keys := `"png"`
	if images.Labelled(s) {
		keys += `, "cls"`
	}
	return fmt.Sprintf("import webdataset as wds; samples = wds.WebDataset(%s, shardshuffle=False).decode(\"pil\").to_tuple(%s)", files, keys)
}

func loadTar(path string, s *schema.Schema, _ Options) string {
	return readTar(fmt.Sprintf("%q", path), s)
}

func loadTarParts(path string, s *schema.Schema, _ Options) string {
	return "import glob; " + readTar(fmt.Sprintf("sorted(glob.glob(%q))", path+"/part-*"), s)
}

// loadIDX returns no line for zstd, because older versions of Python have no module for it.
func loadIDX(path string, _ *schema.Schema, o Options) string {
	switch o.Compression.Name {
	case "gzip":
		return fmt.Sprintf("import gzip, idx2numpy; array = idx2numpy.convert_from_file(gzip.open(%q))", path)
	case "zstd":
		return ""
	}
	return fmt.Sprintf("import idx2numpy; array = idx2numpy.convert_from_file(%q)", path)
}
