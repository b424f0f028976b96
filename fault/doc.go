// Package fault has the one error type of idxport.
//
// Whoever finds something wrong says what kind of thing it is, where it is, what was found and
// expected, and what the user can do:
//
//	return fault.New(fault.Truncated, "found %d bytes of the header, expected %d", n, want).
//		At(offset).
//		WithHint("the download is incomplete: fetch it again")
//
// Callers add the path with [In] once it is known, and ask for the kind with [KindOf] or
// errors.Is(err, fault.Truncated). The exit code of the program depends on the kind alone, so a new
// reader or sink needs no change elsewhere. Errors of the operating system have a kind too: a file
// that does not exist is [NotFound] without any wrapping.
package fault
