// Package convert is the library behind the program. It converts IDX files, and tables in other
// formats, to any number of outputs, and verifies outputs.
//
//	report, err := convert.Run(ctx, convert.Options{
//		Source: convert.Source{Inputs: []string{"fashion-mnist"}},
//		Target: convert.Target{Outputs: []string{"out/"}, To: []string{"parquet", "csv"}},
//	})
//
// Each file uses only those above it:
//
//	options.go     the options, and how they are parsed
//	report.go      the results
//	files.go       local files, objects and files on web servers
//	inputs.go      from arguments to the splits of data sets
//	columns.go     names of columns, and which of them is the label
//	tables.go      from the files of a split to one table
//	alternatives.go hints about what other tools do
//	outputs.go     -o and the flags about formats, parsed
//	conversion.go  all options together, validated
//	selection.go   the rows that --where, --holdout, --shuffle and --take choose
//	rows.go        the table that is written: its transformations, and which of its rows are taken
//	output.go      one output: a file, a folder, an object or a stream
//	expand.go      from each -o to its outputs of each split
//	verify.go      two tables, compared value by value
//	run.go         a conversion from its inputs to its published outputs
//	inspect.go, open.go
//
// The invariant: every output appears complete or not at all, and none appears before all are
// complete. If publishing one fails, those that were published before it stay.
package convert
