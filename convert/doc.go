// Package convert converts data sets of images and labels between IDX, the format of MNIST, and
// Parquet, Arrow, CSV, npy, PNG and other formats. It is the library of the command idxport.
//
//	report, err := convert.Run(ctx, convert.Options{
//		Source: convert.Source{Inputs: []string{"fashion-mnist"}},
//		Target: convert.Target{Outputs: []string{"out/"}, To: []string{"parquet", "csv"}},
//	})
//
// [Run] converts, [Verify] compares an output with its inputs, [Inspect] describes files, and
// [Open] opens tables for programs that read the rows themselves. Fields of [Source], [View] and
// [Target] are flags of the command, of the same names and with values in the same form: see
// docs/cli.md. Zero values are the defaults, so nothing is replaced unless Overwrite is set. For
// single IDX files there is package source/idx.
//
// Errors say what was found and expected. [fault.KindOf] returns their kind, by which the command
// chooses its exit code, and [fault.HintOf] what to do. A [Report] lists what was read, decided and
// written. Calls may run at the same time if their outputs differ.
//
// The invariant: every output appears complete or not at all, and none appears before all are
// complete. If publishing one fails, those that were published before it stay.
package convert

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
