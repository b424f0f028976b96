// Package convert is the library behind the program. It converts IDX files, and tables in other
// formats, to any number of outputs, and verifies outputs.
//
//	report, err := convert.Run(ctx, convert.Options{
//		Source: convert.Source{Inputs: []string{"fashion-mnist"}},
//		Target: convert.Target{Outputs: []string{"out/"}, To: []string{"parquet", "csv"}},
//	})
//
// A conversion goes through stages, each of which makes a value that is not changed afterwards:
//
//	options.go, request.go, targets.go  what was asked for: a request with its targets, checked
//	splits.go, tables.go, storage.go    from arguments to inputs: splits whose tables can be opened
//	selection.go, rows.go               the rows that are chosen, and the jobs: tables as written
//	outputs.go                          each target and job to outputs
//	run.go                              from outputs to destinations, sinks and published outputs
//	report.go                           the results
//
// verify.go, inspect.go and preview.go are the other verbs, and messages.go is for all. A file uses
// only those of its own stage and of earlier ones.
//
// The invariant: every output appears complete or not at all, and none appears before all are
// complete. If publishing one fails, those that were published before it stay.
package convert
