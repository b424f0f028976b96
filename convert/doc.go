// Package convert converts data sets of images and labels between IDX, the format of MNIST, and
// Parquet, Arrow, CSV, npy, PNG and other formats. It is the library of the command idxport.
//
//	report, err := convert.Run(ctx, convert.Options{
//		Source: convert.Source{Inputs: []string{"fashion-mnist"}},
//		Target: convert.Target{Outputs: []string{"out/"}, To: []string{"parquet", "csv"}},
//	})
//
// [Run] converts, [Verify] compares an output with its inputs, [Inspect] describes files, and
// [Preview] opens tables for a function that draws their images. Fields of [Source], [View] and
// [Target] are flags of the command, whose values have the same form: see docs/cli.md. Zero values
// are the defaults. Errors are of the type [Error]. Every output appears complete or not at all,
// and none before all are. If publishing one fails, those that were published before it stay.
package convert

// A conversion goes through stages, each of which makes a value that is not changed afterwards:
//
//	options.go, request.go, targets.go  what was asked for: a request with its targets, checked
//	package internal/input              from arguments to inputs: splits whose tables can be opened
//	selection.go, jobs.go               the rows that are chosen, and the jobs: tables as written
//	outputs.go                          each target and job to outputs
//	run.go, publication.go, losses.go   from outputs to sinks, published outputs and the report
//
// A stage uses earlier ones only, and report.go and messages.go. verify.go, inspect.go and
// preview.go are the other verbs; run.go and losses.go read outputs again as verify.go does.
