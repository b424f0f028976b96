package convert

import (
	"fmt"
	"strings"
)

// An alternative tells how another tool, starting from an output of idxport, does what idxport
// does not.
type alternative struct {
	names  string // flags without --, and file extensions
	tool   string
	format string // the output of idxport that the tool reads
	code   string // a line of Python; it is also in docs/recipes.md, whose code is tested
}

// alternatives are for the most frequent requests that idxport leaves to other tools.
var alternatives = []alternative{
	{"resize", "Pillow", "png",
		`import glob; from PIL import Image; [Image.open(f).resize((32, 32)).save(f) for f in glob.glob("out/**/*.png", recursive=True)]`},
	{"normalize normalise scale-pixels float", "NumPy", "npy",
		`import numpy as np; np.save("normalized.npy", np.load("out/train-image.npy") / np.float32(255))`},
	{"one-hot onehot", "NumPy", "npy",
		`import numpy as np; np.save("one-hot.npy", np.eye(10, dtype=np.uint8)[np.load("out/train-label.npy")])`},
	{".h5 .hdf5", "h5py", "npy",
		`import h5py, numpy as np; h5py.File("train.h5", "w").update(image=np.load("out/train-image.npy"), label=np.load("out/train-label.npy"))`},
	{".tfrecord .tfrecords", "tfrecord", "npy",
		`import numpy as np, tfrecord; w = tfrecord.TFRecordWriter("train.tfrecord"); [w.write({"image": (x.tobytes(), "byte"), "label": (int(y), "int")}) for x, y in zip(np.load("out/train-image.npy"), np.load("out/train-label.npy"))]; w.close()`},
	{".jsonl .ndjson .json", "polars", "parquet",
		`import polars as pl; pl.read_parquet("out/train.parquet").write_ndjson("train.jsonl")`},
	{".npz", "NumPy", "npy",
		`import numpy as np; np.savez_compressed("train.npz", image=np.load("out/train-image.npy"), label=np.load("out/train-label.npy"))`},
}

// Alternative returns a hint for a flag or file extension that idxport lacks: which other tool or
// flag does that. Flag names have no leading --, extensions have their dot. For any other name it
// returns the empty string.
func Alternative(name string) string {
	switch strings.ToLower(name) {
	case "sample":
		return "--shuffle --take 1000 takes random rows"
	case "size", "image-size", "img-size":
		return "--resize 28x28 scales images that are read from files such as PNG and JPEG"
	case "gray", "grayscale", "greyscale":
		return "--grey makes images grey that are read from files such as PNG and JPEG"
	case "delimiter", "separator", "sep":
		return "the separator of CSV is detected; -o NAME.tsv writes tabs"
	}
	for _, a := range alternatives {
		for _, known := range strings.Fields(a.names) {
			if strings.EqualFold(name, known) {
				does := "does that"
				if strings.HasPrefix(name, ".") {
					does = "writes such files"
				}
				return fmt.Sprintf("%s %s: convert with -o out --to %s, then in Python, with the names that convert prints: %s",
					a.tool, does, a.format, a.code)
			}
		}
	}
	return ""
}
