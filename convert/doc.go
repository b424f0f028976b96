// Package convert is the library behind the program: it converts IDX files and tables in other
// formats, compares outputs with inputs, and divides conversions into parts.
//
//	report, err := convert.Run(ctx, convert.Options{
//		Source: convert.Source{Inputs: []string{"fashion-mnist"}},
//		Target: convert.Target{Outputs: []string{"out/"}, To: []string{"parquet", "csv"}},
//	})
//
// The files build on one another in this order, and none uses one after it:
//
//	options.go     what was asked, and its checks
//	report.go      what was done
//	files.go       local files and objects of object storage
//	inputs.go      the arguments to splits of data sets
//	tables.go      the files of a split to one table
//	outputs.go     what -o and the flags about formats say
//	conversion.go  all options together, checked
//	rows.go        the table that is written: transformed, a range of rows
//	output.go      one output: a file, a folder, an object or a stream
//	expand.go      each -o to its outputs of each split
//	write.go       the sinks of outputs
//	compare.go     two tables, value by value
//	run.go         a conversion from its inputs to its published outputs
//
// verify.go, inspect.go, open.go, plan.go and part.go are the other commands.
//
// The invariant: every output appears complete or not at all, and an error means that none did.
package convert
