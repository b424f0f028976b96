package convert_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idxport/idxport/convert"
)

// Convert a folder as it was downloaded: each split becomes a Parquet file.
func ExampleRun() {
	out, err := os.MkdirTemp("", "idxport")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(out)
	report, err := convert.Run(context.Background(), convert.Options{
		Source: convert.Source{Inputs: []string{"../testdata/fashion-mnist"}, Dataset: "fashion-mnist"},
		Target: convert.Target{Outputs: []string{out + "/"}, To: []string{"parquet"}},
	})
	for _, o := range report.Outputs {
		fmt.Println(filepath.Base(o.Path), o.Rows)
	}
	fmt.Println(err)
	// Output:
	// train.parquet 1000
	// test.parquet 1000
	// <nil>
}
