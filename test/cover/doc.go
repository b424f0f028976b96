// Command cover prints which part of the statements and of the branches of each package that reads, converts and writes is run by all tests together,
// and ends with 1 if that is less than -least percent in total. What only drives tests, sinktest and layouttest, is in the table and not in the total.
//
// Go's own coverage counts statements: an if without else is covered as soon as it has been true once. So the command copies the module into a temporary
// folder and writes into the copy what is left unsaid in the sources, without moving a line:
//
//	if x { … }                 if x { … } else {}
//	for ; x; { … }             for ; ; {if (x) {} else {break}; … }
//	switch { case x: … }       switch { case x: … default:}
//
// Then each way out of a condition has a block of its own, and `go test -coverprofile` counts them all, whichever package's test ran them. The branches
// are: both outcomes of every if and of every condition of a for, and every case of a switch or select with its default, written or not. Not counted are
// the operands of && and || on their own, loops over ranges, and conditions of loops that hold a function literal. Files that are not built on this
// platform are left out.
//
//	go run ./test/cover                           # make cover: all tests, some minutes
//	go run ./test/cover -missed source/csv        # also the branches below this folder that nothing takes
//	go run ./test/cover -missed source ./source/...   # run these packages' tests alone
package main
