// Package fault defines the one error type of idxport.
//
// The code that finds an error gives its kind and place, what was found and expected, and a hint:
//
//	return fault.New(fault.Truncated, "found %d bytes of the header, expected %d", n, want).
//		At(offset).
//		WithHint("the file is incomplete: download or write it again")
//
// Callers add the path with [In] once it is known, and test the kind with [KindOf] or
// errors.Is(err, fault.Truncated). The exit code of the program depends on the kind alone, so a new
// reader or sink needs no change elsewhere. Errors of the operating system have a kind without
// being wrapped: a file that does not exist is [NotFound].
package fault
