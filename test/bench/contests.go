//go:build linux

package main

// A contest is a run of idxport and its limit.
type contest struct {
	name    string
	run     []string // arguments of the program; see settings.paths
	limit   []string // a command; "self" is this program as a limit
	aim     float64  // the ratio that the project promises
	durable bool     // output goes to a disk, and the limit syncs it
	large   string   // the large input that is read, see largeInputs; contests with the same one are neighbours
}

const (
	images  = "{mnist}/train-images-idx3-ubyte"
	labels  = "{mnist}/train-labels-idx1-ubyte"
	packed  = "{fashion}/train-images-idx3-ubyte.gz"
	floats  = "{work}/float32.idx"
	octets  = "{work}/uint8.idx"
	csvSize = "109575994" // bytes of MNIST train as pjreddie's CSV
)

// contests are all that are measured. {big} in a name is the size of the large inputs.
var contests = []contest{
	{name: "arrow, MNIST train / cp", aim: 1.35,
		run: []string{images, "-o", "{out}/x.arrow"}, limit: []string{"cp", images, "{out}/x"}},
	{name: "parquet uncompressed, MNIST train / cp", aim: 1.4,
		run:   []string{images, "-o", "{out}/x.parquet", "--compression", "none"},
		limit: []string{"cp", images, "{out}/x"}},
	{name: "parquet zstd, MNIST train / read and compress", aim: 0.7,
		run: []string{images, "-o", "{out}/x.parquet"}, limit: []string{"self", "compress", images, "{out}/x"}},
	{name: "csv, MNIST train / write loop", aim: 1.8,
		run:   []string{images, labels, "-o", "{out}/x.csv", "--layout", "pjreddie"},
		limit: []string{"self", "write", csvSize, "{out}/x"}},
	{name: "png, MNIST train / create files", aim: 1.3,
		run: []string{images, labels, "-o", "png={out}/x"}, limit: []string{"self", "create", "60000", "{out}/x"}},
	{name: "arrow, Fashion train .gz / inflate alone", aim: 1.1,
		run: []string{packed, "-o", "{out}/x.arrow"}, limit: []string{"self", "inflate", packed}},
	{name: "parquet zstd, Fashion train .gz / inflate alone", aim: 1.5,
		run: []string{packed, "-o", "{out}/x.parquet"}, limit: []string{"self", "inflate", packed}},
	{name: "durable arrow, MNIST train / write and fsync", aim: 1.2, durable: true,
		run: []string{images, "-o", "{out}/x.arrow"}, limit: []string{"self", "sync", "47040016", "{out}/x"}},
	{name: "durable csv, MNIST train / write and fsync", aim: 1.2, durable: true,
		run:   []string{images, labels, "-o", "{out}/x.csv", "--layout", "pjreddie"},
		limit: []string{"self", "sync", csvSize, "{out}/x"}},
	{name: "arrow, large float32 ({big}) / cp", aim: 1.35, large: "float32",
		run: []string{floats, "-o", "{out}/x.arrow"}, limit: []string{"cp", floats, "{out}/x"}},
	{name: "parquet uncompressed, large float32 ({big}) / cp", aim: 1.4, large: "float32",
		run:   []string{floats, "-o", "{out}/x.parquet", "--compression", "none"},
		limit: []string{"cp", floats, "{out}/x"}},
	{name: "arrow, large uint8 ({big}) / cp", aim: 1.35, large: "uint8",
		run: []string{octets, "-o", "{out}/x.arrow"}, limit: []string{"cp", octets, "{out}/x"}},
	{name: "parquet uncompressed, large uint8 ({big}) / cp", aim: 1.4, large: "uint8",
		run:   []string{octets, "-o", "{out}/x.parquet", "--compression", "none"},
		limit: []string{"cp", octets, "{out}/x"}},
}
