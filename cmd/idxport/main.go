// Command idxport converts IDX files, the format of MNIST and its relatives, to Arrow IPC, Parquet,
// CSV, NumPy, PNG folders and WebDataset tars, and all of these except tar back to IDX.
package main

import "os"

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
