// Package publish makes outputs appear whole or not at all.
//
// An output is a file or a folder. While it is written it lies beside its target under a hidden
// name, the partial; [Set.Commit] moves it into place in one step. The invariant: after any single
// fault a target is exactly what it was before or exactly what the run made, and an output is new
// wherever Commit returned nil.
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
// Beside a target named base stand, for as long as a run lasts,
//
//	.<base>.idxport-lock               empty; locked by the run that writes base
//	.<base>.idxport-<16 hex>.partial   the output being made, or the replaced folder being deleted
//	.<base>.idxport-<16 hex>.old       the old folder, where two cannot be exchanged in one step
//
// and after it, where Target.Key is given, the up-to-date marker (see [UpToDate])
//
//	.<base>.idxport-<16 hex>-<16 hex>.made
//
// [Hidden] shortens names that no file system would take. A run that was killed leaves the others
// behind; the next run that holds the lock sweeps them, and moves an .old folder back if its target
// is missing.
//
// # Steps
//
// [Prepare] resolves symbolic links, refuses what must not be replaced, takes the locks, sweeps and
// makes the partials. Commit first completes every output: fsync, size compared with the bytes
// counted, close; for a folder the manifest, then syncfs (where there is none, fsync of each file
// and folder). Only then are the outputs renamed, back to back, and their folders synced.
//
// Without Options.Overwrite a target is never replaced: renameat2(RENAME_NOREPLACE),
// renamex_np(RENAME_EXCL) or MoveFileEx. A file system that cannot do so gets link and unlink, and
// one without hard links a check and a rename, safe against runs that take the lock. If all targets
// exist, Prepare ends with [fault.Exists]; if only some do, a killed run may have left them, and
// Commit accepts those that equal what this run made.
//
// With Overwrite a file is renamed over the old one. A folder is exchanged with the old one, which
// is looked at once more, as nobody finds it now to put anything into it, and deleted; if there is
// something new in it, the two are exchanged back. Where folders cannot be exchanged (Windows, NFS)
// the old folder is moved aside and the new one moved in. A run killed between these two renames
// leaves no target, and the next run moves the old folder back before anything else.
//
// An output has the permissions of the file or folder that it replaces, as Prepare found them, from
// the moment its partial is made; files inside a folder have those of new files. An empty folder
// counts as no target for a folder: it is renamed over, which rename(2) does only while it is
// empty. Devices and FIFOs are written directly: nothing beside them is made and nothing is
// replaced. Sockets are refused.
//
// # Locks
//
// The lock is flock on the lock file. A lock counts only if, once it was taken, the path still
// leads to the locked file; the holder unlinks the file while it holds the lock. Nobody else
// unlinks it, so two runs never hold locks on two files that both were found at the path. Thus
// nothing remains after a run that ended by itself, and the file a killed run left behind serves
// the next. On Windows the lock file is opened without sharing and deleted by its last close. A
// file system without flock has no locks: the run goes on, as its names are random and its renames
// atomic, but it sweeps nothing.
//
// # Marks
//
// A published folder shows that it is whole and whose it is by its [Mark]. Only a folder that holds
// what was published, and nothing else, is replaced.
//
// [ManifestMark] is the file _manifest.json, for folders of class folders one level deep:
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
// Counts and hashes leave out the manifest; "." stands for files directly in the folder. Both
// hashes are sums of SHA-256 digests, read as big-endian integers, modulo 2^256, so that they do
// not depend on the order of writing. The terms of content are SHA-256(class "/" name 0x00
// SHA-256(content)), or in version 1 SHA-256(class "/" name 0x00 length content). The terms of
// names are SHA-256(name): with them a listing shows whether a folder holds exactly what was
// published.
//
// [CardMark] is README.md, for folders with a card that people read: it ends with the line
//
//	<!-- {"format":"idxport-folder",…,"card":"…64 hex digits…"} -->
//
// which is such a manifest with the SHA-256 of the text before it. Who edits the card makes the
// folder their own.
//
// [PartsMark] is the empty file _SUCCESS, for folders that data tools read whole: some take any
// other file in them for data. There the names of the parts are the manifest, part-00000-<16
// hex>.parquet, where the digits are the XXH3 hash of the content. Package plan makes such folders
// too, with 8 digits of the ID of the plan: part-00003-<8 hex>.parquet. No other target is put into
// such a folder.
package publish
