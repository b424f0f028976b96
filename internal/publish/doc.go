// Package publish writes outputs that appear complete or not at all.
//
// An output is a file or a folder. While it is written it has a hidden name beside its target, and
// is called the partial; [Set.Commit] moves it there in one step. The invariant: after any single
// fault a target is exactly what it was before or exactly what the run wrote, except where a folder
// is replaced in two steps, see below. If Commit returned nil, every target is what the run wrote.
//
//	set, err := publish.Prepare(targets, publish.Options{Inputs: inputs})
//	if err != nil {
//		return err
//	}
//	defer set.Discard() // no effect after Commit
//	… write to set.File(0), set.Folder(1) …
//	return set.Commit()
//
// # Names on disk
//
// These names exist beside a target named base; the first three only during a run:
//
//	.<base>.idxport                     the lock, an empty file
//	.<base>.idxport-<16 hex>.partial    the new output, or the replaced folder while deleted
//	.<base>.idxport-<16 hex>.old        the old folder, if two cannot be exchanged in one step
//	.<base>.idxport-<listing>-<key>-<content>.made
//	                                    the record of a folder, or of an output with a key
//
// A killed run leaves its hidden names behind. The next run that gets the lock sweeps them, and
// moves an .old folder back if its target is missing.
//
// A record shows that a folder was written by idxport and holds nothing else, and whether an output
// is up to date. Its numbers, zero where there is nothing, are a hash of the names and sizes of the
// files in a folder, the Target.Key, and the [Fingerprint] of an output with a key. They are in the
// name because programs that read whole folders take any file with a content as data, even a hidden
// one. Polars, and DuckDB with '*', take even an empty one, so the record is an empty folder beside
// a file; beside a folder it is an empty file, as readers of images take any folder as a class.
//
// # Replacing
//
// If all targets exist and Options.Overwrite is not set, [Prepare] fails with [fault.Exists]; if
// only some do, a killed run may have published them, and Commit accepts those that equal what this
// run wrote. Commit completes every output (fsync, compare the size with the bytes counted, close)
// before it renames any, back to back.
//
// With Overwrite a file is renamed over the old one, and a folder is exchanged with the old one.
// Then no other program can find the old folder to put files into it, so it is checked once more
// and deleted; if its files changed, the two are exchanged back. Where folders cannot be exchanged
// (Windows, NFS) the old folder is moved aside and the new one moved in: a run that is killed then
// leaves no target. An empty folder counts as none. Devices and FIFOs are written directly.
package publish
