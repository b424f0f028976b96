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
// During a run these names exist beside a target named base:
//
//	.<base>.idxport-lock               empty; locked by the run that writes base
//	.<base>.idxport-<16 hex>.partial   the new output, or the replaced folder while it is deleted
//	.<base>.idxport-<16 hex>.old       the old folder, where two cannot be exchanged in one step
//
// If Target.Key is set, the run leaves an up-to-date stamp (see [UpToDate]):
//
//	.<base>.idxport-<16 hex>-<16 hex>.made
//
// [Hidden] shortens names that are too long for file systems. A killed run leaves its hidden files
// behind. The next run that holds the lock sweeps them, and moves an .old folder back if its target
// is missing.
//
// # Steps
//
// [Prepare] resolves symbolic links, refuses targets that must not be replaced, takes the locks,
// sweeps and creates the partials. Commit first completes every output: fsync, compare the size
// with the bytes counted, close. For a folder it writes the mark and then syncs everything: with
// syncfs on Linux, each file and folder on macOS, and each file on Windows. Only then does it
// rename the outputs, back to back, and sync their folders.
//
// Without Options.Overwrite a target is never replaced: the rename is renameat2(RENAME_NOREPLACE),
// renamex_np(RENAME_EXCL) or MoveFileEx. Where a file system has no such rename, a file is linked
// to its target and its hidden name is removed, and a folder is moved by a plain rename, which
// replaces only an empty folder. Where there are no hard links either, the target of a file is
// checked before a plain rename: runs that take the lock cannot interfere, but other programs can.
// If all targets exist, Prepare fails with [fault.Exists]. If only some do, a killed run may have
// published them, and Commit accepts those that equal what this run wrote.
//
// With Overwrite a file is renamed over the old one. A folder is exchanged with the old one. Then
// no other program can find the old folder to put files into it, so it is checked once more and
// deleted; if a foreign file was added before, the two are exchanged back. Where folders cannot be
// exchanged (Windows, NFS) the old folder is moved aside and the new one moved in. A run that is
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
// file; otherwise it tries again. At most one run holds the lock at any time. Nothing remains after
// a run that ended normally, and the next run uses the file that a killed run left. On Windows the
// lock file is opened without sharing and deleted by its last close. On a file system without flock
// a run goes on without a lock, as its names are random and its renames atomic, but it sweeps
// nothing.
//
// # Marks
//
// The [Mark] of a folder shows that the folder is complete and was written by idxport. A folder is
// replaced only if it has a mark and no files but those of the mark, by name. The contents of files
// are not compared, except the text of a card.
//
// [ManifestMark] is the file _manifest.json, for folders whose files are in subfolders, one level
// deep:
//
//	{
//	  "format": "idxport-folder",
//	  "version": 2,
//	  "files": 3,
//	  "bytes": 921,
//	  "content": "…64 hex digits…",
//	  "classes": {
//	    ".": {"files": 0, "names": "0…0"},
//	    "7": {"files": 3, "names": "…64 hex digits…"}
//	  }
//	}
//
// Counts and hashes leave out the manifest; "." is the folder itself. The hashes "content" and
// "names" are sums of one SHA-256 digest per file, read as big-endian integers, modulo 2^256, so
// that they do not depend on the order of writing. The term of a file in "content" is the SHA-256
// of the concatenation of its subfolder, "/", its name, a zero byte and the SHA-256 of its bytes;
// version 1 had the length of the file and its bytes in place of that SHA-256. The term in "names"
// is the SHA-256 of the name, so a listing suffices to check that a folder has exactly the files
// that were published, by name.
//
// [CardMark] is README.md, for folders with a card, a text for people. Its last line is
//
//	<!-- {"format":"idxport-folder",…,"card":"…64 hex digits…"} -->
//
// which is such a manifest with the SHA-256 of the text before it. A folder whose card was edited
// is not replaced.
//
// [PartsMark] is the empty file _SUCCESS, for folders that data tools read as one table: some of
// them read any other file as data. The names of the parts serve as the manifest: part-00000-<16
// hex>.parquet, where the digits are the XXH3 hash of the content. No other target may be inside
// such a folder.
package publish
