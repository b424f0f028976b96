// Package publish writes outputs that appear complete or not at all.
//
// An output is a file or a folder. While it is written it has a hidden name beside its target, and
// is called the partial; [Set.Commit] moves it to the target in one step. The invariant: after any
// single fault a target is exactly what it was before or exactly what the run wrote, except where a
// folder is replaced in two steps, see below. If Commit returned nil, every target is what the run
// wrote.
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
// Long names are shortened, see hidden. A killed run leaves its hidden names behind. The next run
// that holds the lock sweeps them, and moves an .old folder back if its target is missing.
//
// # Records
//
// A record shows that a folder was written by idxport and holds nothing else, and whether an output
// is up to date. It consists of three numbers of 16 hexadecimal digits, zero where there is
// nothing: the listing of a folder, which is a hash of the names and sizes of its files; the
// Target.Key; and the [Fingerprint] of an output with a key. Commit makes the record before it
// publishes the output and deletes older ones afterwards, so that a killed run may leave two.
//
// The numbers are in the name because programs that read whole folders take any file with a content
// as data, even a hidden one: polars does, and so does DuckDB for an empty file if the pattern is
// '*'. None minds an empty folder. So the record is an empty folder beside a file; beside a folder
// it is an empty file, because readers of images take any folder as a class.
//
// # Steps
//
// [Prepare] resolves symbolic links, refuses targets that must not be replaced, takes the locks,
// sweeps and creates the partials. Commit first completes every output: fsync, compare the size
// with the bytes counted, close. For a folder it syncs everything: with syncfs on Linux, each file
// and folder on macOS, and each file on Windows. Only then does it make the records, rename the
// outputs, back to back, and sync their folders.
//
// Without Options.Overwrite a target is never replaced: the rename is renameat2(RENAME_NOREPLACE),
// renamex_np(RENAME_EXCL) or MoveFileEx. Where a file system has no such rename, a file is linked
// to its target and its hidden name is removed, and a folder is moved by a plain rename, which
// replaces only an empty folder. Where there are no hard links either, the target of a file is
// checked before a plain rename: runs that take the lock cannot interfere, but other programs can.
// If all targets exist, Prepare fails with [fault.Exists]. If only some do, a killed run may have
// published them, and Commit accepts those that equal what this run wrote.
//
// With Overwrite a file is renamed over the old one, and a folder is exchanged with the old one.
// Then no other program can find the old folder to put files into it, so it is checked once more
// and deleted; if a foreign file was added before, the two are exchanged back. Where folders cannot
// be exchanged (Windows, NFS) the old folder is moved aside and the new one moved in. A run that is
// killed between these two renames leaves no target; the next run first moves the old folder back.
//
// From the start a partial has the permissions of the file or folder that it will replace; files
// inside a folder have the permissions of new files. An empty folder does not count as an existing
// target for a folder: it is renamed over, and rename(2) does so only while it is empty. Devices
// and FIFOs are written directly, without hidden files. Sockets are refused.
//
// # Locks
//
// The lock is flock on the lock file. Its holder unlinks the file at the end, perhaps after another
// run has opened it. So a run checks, once it has the lock, that the path still leads to the locked
// file; otherwise it tries again. On Windows the lock file is opened without sharing and deleted by
// its last close. On a file system without flock a run goes on without a lock, as its names are
// random and its renames atomic, but it sweeps nothing.
package publish
