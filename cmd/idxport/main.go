// Command idxport converts IDX files, the format of MNIST and its relatives, to Arrow IPC, Parquet,
// CSV, PNG folders, WebDataset and NumPy, and back to IDX.
package main

import "os"

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
