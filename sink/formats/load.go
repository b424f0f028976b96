package formats

import (
	"fmt"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/sink/images"
)

// LoadLine returns a line of Python that loads an output of f at path, made of tables of the schema
// s with the options o; "" if there is none.
func (f Format) LoadLine(path string, s *schema.Schema, o Options) string { return f.load(path, s, o) }

// LoadPartsLine is LoadLine for an output that was split into many files, in the folder at path.
func (f Format) LoadPartsLine(path string, s *schema.Schema, o Options) string {
	switch f.Name {
	case "parquet":
		if o.Layout == "huggingface" {
			return fmt.Sprintf("from datasets import load_dataset; data = load_dataset(%q)", path)
		}
		return f.load(path, s, o)
	case "arrow":
		return fmt.Sprintf("import pyarrow.dataset as ds; table = ds.dataset(%q, format=\"arrow\").to_table()", path)
	case "csv", "tsv":
		frame := strings.TrimPrefix(f.load("PART", s, o), "import pandas as pd; frame = ")
		return fmt.Sprintf("import glob, pandas as pd; frame = pd.concat(%s for part in sorted(glob.glob(%q)))",
			strings.Replace(frame, `"PART"`, "part", 1), path+"/part-*")
	case "tar":
		return "import glob; " + strings.Replace(f.load("PART", s, o), `"PART"`, fmt.Sprintf("sorted(glob.glob(%q))", path+"/part-*"), 1)
	}
	return ""
}

// loadParquet uses the library datasets if only it decodes the layout's images. It names a table
// without a split "train".
func loadParquet(path string, _ *schema.Schema, o Options) string {
	if o.Layout == "huggingface" {
		return fmt.Sprintf("from datasets import load_dataset; data = load_dataset(\"parquet\", data_files=%q, split=\"train\")", path)
	}
	return fmt.Sprintf("import pyarrow.parquet as pq; table = pq.read_table(%q)", path)
}

// line returns a function load that inserts the path into format.
func line(format string) func(string, *schema.Schema, Options) string {
	return func(path string, _ *schema.Schema, _ Options) string { return fmt.Sprintf(format, path) }
}

// pandas returns the function load of a CSV format. pandas takes the first line for a header unless
// header=None is given.
func pandas(arguments string) func(string, *schema.Schema, Options) string {
	return func(path string, _ *schema.Schema, o Options) string {
		header := ", header=None"
		if csv.HasHeader(o.Style) {
			header = ""
		}
		return fmt.Sprintf("import pandas as pd; frame = pd.read_csv(%q%s)", path, arguments+header)
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

// loadTar loads the rows in order. A sample is an image and, if there are labels, its label.
func loadTar(path string, s *schema.Schema, _ Options) string {
	keys := `"png"`
	if images.Labelled(s) {
		keys += `, "cls"`
	}
	return fmt.Sprintf("import webdataset as wds; samples = wds.WebDataset(%q, shardshuffle=False).decode(\"pil\").to_tuple(%s)", path, keys)
}

// loadIDX opens files that Python's standard library can decompress.
func loadIDX(path string, _ *schema.Schema, o Options) string {
	switch o.Compression.Name {
	case "gzip":
		return fmt.Sprintf("import gzip, idx2numpy; array = idx2numpy.convert_from_file(gzip.open(%q))", path)
	case "zstd":
		return ""
	}
	return fmt.Sprintf("import idx2numpy; array = idx2numpy.convert_from_file(%q)", path)
}
