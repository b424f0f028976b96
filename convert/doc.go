// Package convert is the library behind the program: it converts IDX files and tables in other
// formats, compares outputs with inputs, and divides conversions into parts.
//
//	report, err := convert.Run(ctx, convert.Options{
//		Source: convert.Source{Inputs: []string{"fashion-mnist"}},
//		Target: convert.Target{Outputs: []string{"out/"}, To: []string{"parquet", "csv"}},
//	})
//
// A conversion goes through the files of this package from top to bottom, each stage handing the
// next a plain value: options.go (what was asked, checked), inputs.go (paths to the splits of data
// sets, and their tables), rows.go (the table that is written: transformed, a range of rows),
// outputs.go and expand.go (each -o to the files of each split), destination.go (where an output
// goes), run.go (sinks, package pipeline, verification, publication), report.go (what was done).
//
// The invariant: every output appears complete or not at all, and an error means that none did.
package convert
