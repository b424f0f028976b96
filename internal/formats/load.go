package formats

import (
	"fmt"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/csv"
)

// A loader returns a line of Python that loads an output at path; "" if there is none.
type loader func(path string, s *schema.Schema, o Options) string

// LoadLine returns a line of Python that loads an output of f at path, made of tables of the schema
// s with the options o; "" if there is none.
func (f Format) LoadLine(path string, s *schema.Schema, o Options) string {
	return f.load(path, s, o)
}

// LoadHubLine returns the line that loads the data set in the folder at path, in the layout of the
// Hub.
func LoadHubLine(path string) string { return fmt.Sprintf(loadDataset+"%q)", path) }

// loadDataset begins the lines that use Hugging Face's library.
const loadDataset = "from datasets import load_dataset; data = load_dataset("

// loadParquet uses the Python library "datasets" for the layout "huggingface", because pyarrow does
// not decode its images. The library calls the only table "train".
func loadParquet(path string, _ *schema.Schema, o Options) string {
	if o.Layout != "huggingface" {
		return fmt.Sprintf("import pyarrow.parquet as pq; table = pq.read_table(%q)", path)
	}
	return fmt.Sprintf(loadDataset+"\"parquet\", data_files=%q, split=\"train\")", path)
}

// line returns a loader that inserts the path into text.
func line(text string) loader {
	return func(path string, _ *schema.Schema, _ Options) string { return fmt.Sprintf(text, path) }
}

// pandas returns the loader of a CSV format. pandas takes the first line for a header unless
// header=None is given.
func pandas(arguments string) loader {
	return func(path string, _ *schema.Schema, o Options) string {
		arguments := arguments
		if !csv.HasHeader(o.Layout) {
			arguments += ", header=None"
		}
		return fmt.Sprintf("import pandas as pd; frame = pd.read_csv(%q%s)", path, arguments)
	}
}

// loadPNG uses the library datasets if there is a metadata.csv, which it reads, and otherwise
// torchvision's ImageFolder, which reads class folders only.
func loadPNG(path string, s *schema.Schema, o Options) string {
	if o.Layout == "huggingface" {
		return fmt.Sprintf(loadDataset+"\"imagefolder\", data_dir=%q, split=\"train\")", path)
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
	return fmt.Sprintf("import webdataset as wds; "+
		"samples = wds.WebDataset(%q, shardshuffle=False).decode(\"pil\").to_tuple(%s)", path, keys)
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
